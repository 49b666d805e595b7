/** The law: for any border and any overlap, answers equal those of a single Loki with all entries. */
import test from 'ava';
import { compareAnswers, hasData, type ComparedRequest } from '../../../core/comparison/answers.js';
import { historyFlags, nowNs, withBackend, withStore, type Api, type StoredEntry } from './two-times.js';
import { isDeep, spreadSample } from '../../setup/runs.js';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';

const minuteNs = 60_000_000_000n;
const startNs = nowNs - 360n * minuteNs;

/** Six hours of entries in three streams: some at whole milliseconds, some between them, some at equal times. */
function makeEntries(): readonly StoredEntry[] {
  let seed = Number(process.env['TEST_SEED'] ?? 20_261_108);
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return Math.floor((seed / 0x8000_0000) * below);
  };
  const apps = ['shop', 'cart', 'mail'];
  const levels = ['info', 'warn', 'error'];
  return Array.from({ length: 360 }, (_none, index) => {
    const level = levels[random(3)] ?? 'info';
    const app = apps[random(3)] ?? 'shop';
    const offNs = index % 3 === 0 ? 0n : BigInt(random(60_000)) * 1_000_000n + BigInt(index % 2);
    const line =
      index % 4 === 0
        ? `level=${level} took=${random(900)}ms size=${random(5000)} msg="order ${random(20)}"`
        : JSON.stringify({ level, took: random(1000) / 10, user: `u${random(7)}`, path: `/p/${random(9)}` });
    return {
      stream: { app, env: index < 180 ? 'old' : 'new', zone: `z${random(2)}` },
      timeNs: startNs + BigInt(index) * minuteNs + offNs,
      line,
      metadata: { trace: `t${random(30)}` },
    };
  });
}

const entries = makeEntries();
const range = { start: String(startNs), end: String(nowNs) };
const steps = { ...range, step: '600' };

const logQueries = [
  '{app=~".+"}',
  '{app="shop"} |= "error"',
  '{app=~"shop|cart"} | json | took > 20',
  '{env="old"} | logfmt | level="warn" | line_format "{{.msg}}"',
];
const metricQueries = [
  'sum by (app) (count_over_time({app=~".+"}[10m]))',
  'sum(rate({app=~".+"}[25m]))',
  'count_over_time({app="shop"}[1h])',
  'bytes_rate({app="shop"}[90m])',
  'sum by (level) (bytes_over_time({app=~".+"} | json [17m]))',
  'sum by (app) (sum_over_time({app=~".+"} | json | __error__="" | unwrap took [40m]))',
  'rate({app="cart"} | json | __error__="" | unwrap took [40m])',
  'max_over_time({app=~".+"} | json | __error__="" | unwrap took [40m]) by (app)',
  'min by (app) (min_over_time({app=~".+"} | json | __error__="" | unwrap took [2h]))',
  'avg_over_time({app=~".+"} | json | __error__="" | unwrap took [40m]) by (app)',
  'quantile_over_time(0.9, {app=~".+"} | json | __error__="" | unwrap took [40m]) by (app)',
  'stddev_over_time({app=~".+"} | json | __error__="" | unwrap took [35m]) by (zone)',
  'first_over_time({app=~".+"} | json | __error__="" | unwrap took [40m]) by (app)',
  'last_over_time({app=~".+"} | json | __error__="" | unwrap took [40m]) by (app)',
  'absent_over_time({app="shop", env="old"}[5m])',
  'count by (app) (bytes_over_time({app=~".+"}[30m]))',
  'stddev by (env) (rate({app=~".+"}[11m]))',
  'max by (env) (quantile_over_time(0.5, {app=~".+"} | json | __error__="" | unwrap took [40m]) by (app, env))',
  'avg by (env) (max_over_time({app=~".+"} | json | __error__="" | unwrap took [40m]))',
  'topk(2, sum by (app, zone) (count_over_time({app=~".+"}[30m])))',
  'avg by (app) (count_over_time({app=~".+"} |= "u1" [30m]))',
  'sum(rate({app="shop"}[5m])) / sum(rate({app=~".+"}[45m] offset 1h))',
  'sum(count_over_time({app="shop"}[20m])) or vector(0)',
  'count_over_time({app="shop"}[10m] offset 30m) > 1',
  'label_replace(sum by (app) (count_over_time({app=~".+"}[33m])), "b", "$1", "app", "(.).*")',
];

type Add = (path: string, params: ComparedRequest['params']) => void;

function listed(fill: (add: Add) => void): readonly ComparedRequest[] {
  const all: ComparedRequest[] = [];
  fill((path, params) => all.push({ path: `/loki/api/v1/${path}`, params }));
  return all;
}

const queries = listed((add) => {
  for (const query of logQueries)
    for (const direction of ['forward', 'backward'])
      for (const limit of ['7', '150', '5000']) add('query_range', { ...range, query, direction, limit });
  for (const direction of ['forward', 'backward'])
    for (const limit of ['9', '1000'])
      add('query_range', { ...range, query: '{app=~".+"}', direction, limit, interval: '400' });
  for (const [index, query] of metricQueries.entries()) {
    add('query_range', { ...steps, query });
    if (index % 3 === 0) add('query_range', { ...steps, query, step: '47' });
    for (const back of [0n, 110n]) add('query', { query, time: String(nowNs - back * minuteNs) });
  }
});
const others = listed((add) => {
  add('query', { query: 'sum by (app) (rate({app=~".+"}[6h]))', time: String(nowNs + 1_234_567n) });
  for (const back of [10n, 177n, 200n]) {
    const instant = String(nowNs - back * minuteNs);
    add('query_range', { query: '{app=~".+"}', start: instant, end: instant });
  }
  add('labels', range);
  for (const label of ['app', 'env', 'service_name']) add(`label/${label}/values`, range);
  add('series', { ...range, 'match[]': ['{app="shop"}', '{zone="z1"}'] });
  add('index/stats', { ...range, query: '{app=~".+"}' });
  add('index/volume', { ...range, query: '{app=~".+"}', limit: '10' });
  add('index/volume_range', { ...range, query: '{app=~".+"}', step: '3600' });
  add('detected_labels', range);
  for (const line_limit of ['20', '1000']) {
    add('detected_fields', { ...range, query: '{app=~".+"}', line_limit });
    add('detected_field/took/values', { ...range, query: '{app=~".+"}', line_limit });
  }
});

/**
 * A sample of the requests for each border. Together, the samples of turns 0, 1 and 2 contain almost all queries and all other requests.
 */
function requestsOf(turn: number): readonly ComparedRequest[] {
  return [...spreadSample(queries, 11, 2, isDeep ? turn : turn * 4), ...spreadSample(others, 3, 2, turn)];
}

async function answersOf(
  api: Api,
  some: readonly ComparedRequest[],
): Promise<ReadonlyMap<ComparedRequest, Awaited<ReturnType<Api['ask']>>>> {
  const answers = new Map<ComparedRequest, Awaited<ReturnType<Api['ask']>>>();
  for (const request of some)
    answers.set(request, await api.ask(request.path.slice('/loki/api/v1/'.length), request.params));
  return answers;
}

/** Borders at and next to whole milliseconds, at and just before the time of an entry, and outside the data. */
const borders = [
  startNs + 120n * minuteNs,
  startNs + 183n * minuteNs,
  startNs + 201n * minuteNs - 1n,
  startNs + 222n * minuteNs + 500_123n,
  nowNs + minuteNs,
];

for (const [overlap, some, firstTurn] of [
  [0n, borders.slice(isDeep ? 1 : 2, 4), 0],
  [45n, borders.slice(2, 3), 2],
] as const) {
  test(`entries around any border give the answers of one store, with ${overlap} minutes of them in both`, async (t) => {
    t.timeout(600_000);
    await withStore(entries, async (whole) => {
      const turns = some.map((_, index) => requestsOf(firstTurn + index));
      const all = [...new Set(turns.flat())];
      const expected = await answersOf(whole, all);
      t.true([...expected.values()].filter(hasData).length > all.length * 0.9);
      const differences: unknown[] = [];
      for (const [turn, untilNs] of some.entries()) {
        const half = overlap * minuteNs;
        const older = entries.filter(({ timeNs }) => timeNs < untilNs + half);
        const newer = entries.filter(({ timeNs }) => timeNs >= untilNs - half);
        await withStore(older, (old) =>
          withStore(
            newer,
            async (both) => {
              const found = await answersOf(both, turns[turn] ?? []);
              for (const [request, candidate] of found) {
                const reference = expected.get(request);
                const difference = reference && compareAnswers(request, reference, candidate);
                if (difference !== undefined) differences.push([untilNs - startNs, request, difference]);
              }
            },
            historyFlags(old.url, untilNs),
          ),
        );
      }
      t.deepEqual(differences, []);
    });
  });
}

test('a border changes nothing for a store that is its own old Loki', async (t) => {
  t.timeout(600_000);
  const backend = await startDevBackend({ nowNs: () => nowNs });
  t.teardown(() => backend.close());
  await withBackend(backend.url, async (old) => {
    await withBackend(
      backend.url,
      async (both) => {
        const answer = await both.ask('query_range', { ...range, query: '{app="shop"}' });
        t.is(answer.status, 200);
        t.false(hasData(answer));
      },
      historyFlags(old.url, nowNs - minuteNs),
    );
  });
});
