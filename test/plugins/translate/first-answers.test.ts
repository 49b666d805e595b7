import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../../../core/testing/index.js';
import { Relay } from '../../audit/relay.js';
import { openProxy, openStore } from '../../conformance/target.js';

const minute = 60n * 1_000_000_000n;
const baseNs = 1_793_491_200n * 1_000_000_000n;

interface Answered {
  readonly warnings: readonly string[];
  readonly result: unknown;
}

type Flags = Readonly<Record<string, string>>;
type Metadata = Readonly<Record<string, string>>;

/** A proxy over two hours with one row per minute and stream, each pushed twice, and query helpers. */
const overRepeats = (t: ExecutionContext, flags: Flags) => overRows(t, flags, { pushes: 2, metadata: {} });

/** Like `overRepeats`, with this metadata in every third row, and optional streams with access logs. */
async function overRows(
  t: ExecutionContext,
  flags: Flags,
  {
    pushes,
    metadata,
    accessLogs = [],
  }: { readonly pushes: number; readonly metadata: Metadata; readonly accessLogs?: readonly string[] },
) {
  const store = await openStore(undefined, false);
  t.teardown(() => store.close());
  const relay = await Relay.open(store.url);
  t.teardown(() => relay.close());
  const lines = Array.from({ length: 120 }, (_none, index) => {
    const level = ['info', 'WARN', 'error'][index % 3] ?? '';
    const own = index % 3 === 0 ? [metadata] : [];
    return [
      String(baseNs + BigInt(index) * minute),
      `${level} request ${index} took ${index * 7} ms`,
      ...own,
    ];
  });
  const requests = lines.map(([time], index) => [time, `GET /items/${index} 200`]);
  for (let times = 0; times < pushes; times += 1) {
    const pushed = await fetch(`${store.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        streams: ['a', 'b', ...accessLogs].map((app) => ({
          stream: { app, env: 'x' },
          values: accessLogs.includes(app) ? requests : lines,
        })),
      }),
    });
    t.true(pushed.ok);
  }
  const proxy = await openProxy(
    { ...store, url: relay.url },
    [],
    Object.entries({ 'first-answers-max-rows': '100', 'rate-limit-per-second': '0', ...flags }),
    new FakeClock(baseNs + 300n * minute),
  );
  t.teardown(() => proxy.close());
  const ask = async (query: string, path = 'query_range', fromMinute = 0n): Promise<Answered> => {
    const params = new URLSearchParams(
      path === 'query'
        ? { query, time: (baseNs + 120n * minute).toString() }
        : {
            query,
            start: (baseNs + fromMinute * minute).toString(),
            end: (baseNs + 120n * minute).toString(),
            step: '300',
          },
    );
    const answer = await fetch(`${proxy.urls.main}/loki/api/v1/${path}?${params.toString()}`, {
      headers: { 'x-scope-orgid': '0' },
    });
    const body = (await answer.json()) as { readonly data: Answered; readonly warnings?: readonly string[] };
    t.is(answer.status, 200);
    return { warnings: body.warnings ?? [], result: body.data.result };
  };
  /** Repeats the query until the answer is exact; all facts are proven then. */
  const askUntilExact = async (query: string, fromMinute = 0n): Promise<Answered> => {
    for (;;) {
      const answer = await ask(query, 'query_range', fromMinute);
      if (answer.warnings.length === 0) return answer;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  return { ask, askUntilExact, relay };
}

const queries = [
  'sum by (app) (count_over_time({env="x"}[5m]))',
  'sum by (detected_level) (count_over_time({env="x"}[5m]))',
  'sum by (app) (rate({env="x"} |= "request" [5m]))',
];

test('a first answer over many rows says what it assumes, and later ones are exact', async (t) => {
  const exact = await overRepeats(t, { 'first-answers': 'exact' });
  for (const query of queries) {
    const prompt = await overRepeats(t, {});
    const proven = await exact.ask(query);
    t.deepEqual(proven.warnings, [], query);
    const first = await prompt.ask(query);
    t.regex(first.warnings.join(), /assumes that .*there are no duplicate rows/, query);
    // Each row counts as often as it is stored.
    t.notDeepEqual(first.result, proven.result, query);
    t.deepEqual((await prompt.askUntilExact(query)).result, proven.result, query);
  }
});

test('a first answer counts rows with metadata under the labels of their streams', async (t) => {
  const rows = { pushes: 1, metadata: { app: 'b', level: 'debug' } };
  const exact = await overRows(t, { 'first-answers': 'exact' }, rows);
  for (const query of queries) {
    const prompt = await overRows(t, {}, rows);
    const first = await prompt.ask(query);
    t.not(first.warnings.length, 0, query);
    t.deepEqual(first.result, (await exact.ask(query)).result, query);
  }
});

test('fewer rows are inspected while a client waits if their lines must be inspected too', async (t) => {
  const { ask } = await overRepeats(t, { 'first-answers-max-rows': '1000' });
  const warningsOf = async (label: string): Promise<number> =>
    (await ask(`sum by (${label}) (count_over_time({env="x"}[5m]))`)).warnings.length;
  t.is(await warningsOf('app'), 0);
  t.is(await warningsOf('detected_level'), 1);
});

test('what was proven for one query holds for another one', async (t) => {
  const { askUntilExact, ask } = await overRepeats(t, {});
  await askUntilExact('sum by (app) (count_over_time({env="x"}[5m]))');
  t.deepEqual((await ask('sum by (app) (bytes_over_time({env="x"}[10m]))')).warnings, []);
});

test('rows are counted once where only a part of the range is proven', async (t) => {
  const rows = { pushes: 1, metadata: {}, accessLogs: ['web'] };
  const { ask, askUntilExact, relay } = await overRows(t, {}, rows);
  const histogram = (filter: string): string =>
    `sum by (level, detected_level) (count_over_time({env="x"} != "${filter}" | drop __error__ [5m]))`;
  const countsOf = async (filter: string, fromMinute: bigint): Promise<readonly string[]> => {
    relay.forget();
    await ask(histogram(filter), 'query_range', fromMinute);
    const queries = relay.calls.map(({ args }) => args.get('query') ?? '');
    return queries.filter((query) => query.includes(`"${filter}"`));
  };
  await askUntilExact(histogram('none'), 60n);
  const [proven = '', ...others] = await countsOf('first', 60n);
  t.deepEqual(others, []);
  // Lines of streams without any level are not searched.
  t.true(proven.includes('if ({app in ("web")})'));
  t.is((await countsOf('second', 0n)).length, 1);
});

test('instant queries, short ranges and few rows are exact at once', async (t) => {
  const { ask } = await overRepeats(t, {});
  const query = 'sum by (app) (count_over_time({env="x"}[1h]))';
  t.deepEqual((await ask(query, 'query')).warnings, []);
  t.deepEqual((await ask(query, 'query_range', 106n)).warnings, []);
  const few = await overRepeats(t, { 'first-answers-max-rows': '1000' });
  t.deepEqual((await few.ask(query)).warnings, []);
});

for (const [name, flags] of [
  ['from windows', { 'query-range-split-interval': '20m' }],
  ['with caches', { 'cache-disabled': 'false' }],
] as const)
  test(`a first answer is never kept: ${name}`, async (t) => {
    const { ask, askUntilExact } = await overRepeats(t, flags);
    const exact = await overRepeats(t, { ...flags, 'first-answers': 'exact' });
    for (const query of queries) {
      await ask(query);
      t.deepEqual((await askUntilExact(query)).result, (await exact.ask(query)).result, query);
    }
  });
