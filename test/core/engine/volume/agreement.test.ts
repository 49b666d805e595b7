import test from 'ava';
import fc from 'fast-check';
import { request } from 'undici';
import type { RunningProxy } from '../../../../core/program/start-proxy.js';
import { openProxy, type Store } from '../../../conformance/target.js';
import { ask, pushRows, storeRows, type StoredRow } from '../../../conformance/store-rows.js';
import { deepRuns } from '../../../setup/runs.js';

const minute = 60;
const spanSeconds = 150 * minute;
/** A whole second, an hour before now: Loki's ingesters would still hold these logs. */
const end = Math.floor(Date.now() / 1000) - 60 * minute;

let store: Store;
let proxy: RunningProxy;

/** A tiny service, quiet services with a few streams, and a busy one with metadata. */
function* rows(): Generator<StoredRow> {
  const at = (secondsBefore: number): string => new Date((end - secondsBefore) * 1000).toISOString();
  for (let index = 0; index < 12; index += 1)
    yield { _time: at(index * 97), app: 'tiny', env: 'dev', _msg: 'x'.repeat(40 + 13 * index) };
  for (let index = 0; index < 300; index += 1)
    yield {
      _time: at((index * 7919) % spanSeconds),
      app: index % 3 === 0 ? 'quiet' : 'calm',
      pod: `p${index % 7}`,
      _msg: `request ${index} took ${index * 17} ms`,
    };
  for (let index = 0; index < 2500; index += 1)
    yield {
      _time: at((index * 101) % spanSeconds),
      app: 'busy',
      env: 'prod',
      trace: `trace-${index * 7919}`,
      _msg: `${'payload '.repeat(index % 11)}${index}`,
    };
}

test.before('the services are stored', async () => {
  store = await storeRows(['app', 'env', 'pod'], [...rows()]);
  proxy = await openProxy(store, [], [['auth-enabled', 'false']]);
});

test.after.always(async () => {
  await proxy.close();
  await store.close();
});

type Point = readonly [seconds: number, value: string];
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: Point;
  readonly values?: readonly Point[];
}

/** The bytes of each series, summed over its points. */
async function volumes(
  path: string,
  params: Readonly<Record<string, string>>,
  asked = proxy,
): Promise<Map<string, number>> {
  const { status, body } = await ask(asked.urls.main, path, params);
  if (status !== 200) throw new Error(JSON.stringify(body));
  // The response has the form of Loki's vectors and matrices.
  const { result } = body['data'] as { readonly result: readonly Series[] };
  return new Map(
    result
      .map(({ metric, value, values }): [string, number] => {
        const points = values ?? (value === undefined ? [] : [value]);
        return [JSON.stringify(metric), points.reduce((sum, [, bytes]) => sum + Number(bytes), 0)];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const requests = fc.record({
  from: fc.integer({ min: 1, max: spanSeconds }),
  length: fc.integer({ min: minute, max: spanSeconds }),
  step: fc.constantFrom(15, 60, 77, 300, 3600, 86_400),
  limit: fc.constantFrom(1, 2, 100),
  query: fc.constantFrom('{app=~".+"}', '{app=~".+", app!="busy"}', '{app="tiny"}', '{pod=~"p[1-4]"}'),
  targets: fc.constantFrom('', 'app', 'app,env', 'pod', 'nothing'),
  aggregateBy: fc.constantFrom('series', 'labels'),
});

test('the points of a volume over time add up to the volume', async (t) => {
  t.timeout(300_000);
  const tries = deepRuns(8, 25);
  let filled = 0;
  await fc.assert(
    fc.asyncProperty(requests, async ({ from, length, step, limit, query, targets, aggregateBy }) => {
      const start = end - from;
      const params = {
        query,
        aggregateBy,
        limit: String(limit),
        start: String(start),
        end: String(Math.min(start + length, end + 1)),
        ...(targets === '' ? {} : { targetLabels: targets }),
      };
      const whole = await volumes('index/volume', params);
      t.deepEqual(await volumes('index/volume_range', { ...params, step: String(step) }), whole);
      if (whole.size > 0) filled += 1;
    }),
    { numRuns: tries },
  );
  // With the seed of the tests, 15 of the first 25 volumes are not empty.
  t.true(filled > tries / 3, String(filled));
});

test('a service of a few hundred bytes is not nothing, whatever the step', async (t) => {
  const params = { query: '{app="tiny"}', start: String(end - 3600), end: String(end + 1) };
  const [bytes = 0] = (await volumes('index/volume', params)).values();
  // 1,338 bytes of lines, and the level of each line.
  t.true(bytes > 1338 && bytes < 1600, String(bytes));
  const inMinutes = await volumes('index/volume_range', { ...params, step: '60' });
  t.deepEqual([...inMinutes.values()], [bytes]);
});

test('volumes share a single place for heavy queries', async (t) => {
  const narrow = await openProxy(
    store,
    [],
    [
      ['auth-enabled', 'false'],
      ['backend-max-concurrent-heavy-queries', '1'],
      ['backend-heavy-query-min-range', '1s'],
      ['backend-heavy-query-queue-wait', '30s'],
      ['cache-disabled', 'true'],
    ],
  );
  t.teardown(() => narrow.close());
  const asked = ['tiny', 'quiet', 'calm', 'busy'].map((app) =>
    ask(narrow.urls.main, 'index/volume', {
      query: `{app="${app}"}`,
      start: String(end - spanSeconds),
      end: String(end),
    }),
  );
  t.deepEqual(
    (await Promise.all(asked)).map(({ status }) => status),
    [200, 200, 200, 200],
  );
});

test('what metadata costs is remembered only as long as no rows come', async (t) => {
  const own = await storeRows(['app'], [...rowsWithin('line')]);
  t.teardown(() => own.close());
  const open = async (): Promise<RunningProxy> => {
    const opened = await openProxy(
      own,
      [],
      [
        ['auth-enabled', 'false'],
        ['cache-disabled', 'true'],
        ['compat-cache-enabled', 'false'],
        ['server.register-instrumentation', 'true'],
      ],
    );
    t.teardown(() => opened.close());
    return opened;
  };
  const asking = await open();
  const params = { query: '{app="one"}', start: String(end - 3600), end: String(end + 1) };
  const first = await volumes('index/volume', params, asking);
  t.deepEqual(await volumes('index/volume', params, asking), first);
  const metrics = await request(`${asking.urls.main}/metrics`);
  t.regex(await metrics.body.text(), /learned_entries\{[^}]*memory="metadata"[^}]*\} 1\n/);
  await pushRows(own.url, ['app'], [...rowsWithin('another', { trace: 'a'.repeat(100) })]);
  const second = await volumes('index/volume', params, asking);
  t.deepEqual(second, await volumes('index/volume', params, await open()));
  const [before = 0] = first.values();
  const [after = 0] = second.values();
  // Twice the lines, and 8 bytes for each metadata pair.
  t.true(after > 2 * before + 500 * 8, `${before} became ${after}`);
});

function* rowsWithin(line: string, more: StoredRow = {}): Generator<StoredRow> {
  for (let index = 0; index < 1000; index += 1) {
    const at = new Date((end - index) * 1000).toISOString();
    yield { _time: at, app: 'one', _msg: `${line} ${index}`, ...more };
  }
}
