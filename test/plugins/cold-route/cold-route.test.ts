import test from 'ava';
import type { ColdRouteOptions } from '../../../core/base/options.gen.js';
import { makeExchange, makeLogAnswer, optionsOf, runStage } from '../../../core/testing/index.js';
import coldRoute from '../../../plugins/cold-route/index.js';
import { boundaryNs, linesOf, minuteNs, minutes, withTwoBackends, type Line } from './two-backends.js';

const old: Line = { minute: -180, text: 'old' };
const young: Line = { minute: 180, text: 'young' };
/** Lines around the boundary: in both backends, only in the hot one, only in the cold one. */
const both: Line = { minute: -10, text: 'in both' };
const onlyHot: Line = { minute: -20, text: 'only hot' };
const onlyCold: Line = { minute: 20, text: 'only cold' };
const spread = { hot: [onlyHot, both, young], cold: [old, both, onlyCold] };
const inOrder = ['young', 'only cold', 'in both', 'only hot', 'old'];

function manifest(newestMinute: number, totalFiles = 3): string {
  const ns = (minute: number): string => String(boundaryNs + BigInt(minute) * minuteNs);
  return `{"minTime":${ns(-100_000)},"maxTime":${ns(newestMinute)},"minDate":"","maxDate":"","totalFiles":${totalFiles},"totalBytes":1}`;
}

test('without -cold-enabled every exchange goes on over the backend alone', async (t) => {
  const exchange = makeExchange();
  const answer = makeLogAnswer({ app: 'a' }, ['line']);
  // optionsOf applies the schema, which the type is generated from.
  const options = optionsOf('cold-route') as unknown as ColdRouteOptions;
  const run = await runStage(coldRoute, options, exchange, () => Promise.resolve(answer));
  t.is(run.answer, answer);
  await withTwoBackends(
    t,
    spread,
    {},
    async ({ lines, coldQueries, manifestReads }) => {
      t.deepEqual(await lines(-400, 400), ['young', 'in both', 'only hot']);
      t.deepEqual([coldQueries, manifestReads()], [[], 0]);
    },
    { 'cold-enabled': 'false' },
  );
});

test('lines of both backends come as one, and what is in both once', async (t) => {
  await withTwoBackends(t, spread, {}, async ({ lines, ask, metric }) => {
    t.deepEqual(await lines(-400, 400), inOrder);
    const forward = await ask('query_range', {
      query: '{app="shop"}',
      ...minutes(-400, 400),
      direction: 'forward',
      limit: '2',
    });
    t.deepEqual(linesOf(forward), ['only hot', 'old']);
    const newest = await ask('query_range', { query: '{app="shop"}', ...minutes(-400, 400), limit: '3' });
    t.deepEqual(linesOf(newest), ['young', 'only cold', 'in both']);
    t.true((await metric('cold_routed_total{route="both"}')) > 0);
    t.true((await metric('cold_calls_total{outcome="answered"}')) > 0);
  });
});

test('counts over both backends are those of all lines', async (t) => {
  await withTwoBackends(t, spread, {}, async ({ ask }) => {
    const time = String(boundaryNs + 400n * minuteNs);
    const counted = await ask('query', { query: 'sum by (app) (count_over_time({app="shop"}[800m]))', time });
    t.regex(counted.text, /"value":\[[\d.]+,"5"\]/);
    const some = await ask('query', { query: 'sum(count_over_time({app="shop"} |= "only" [800m]))', time });
    t.regex(some.text, /"value":\[[\d.]+,"2"\]/);
    const stats = await ask('index/stats', { query: '{app="shop"}', ...minutes(-400, 400) });
    t.like(stats.body, { streams: 1, entries: 5 });
  });
});

test('names of labels, their values and series come from both backends', async (t) => {
  const lines = { hot: [young], cold: [{ ...old, app: 'attic' }] };
  await withTwoBackends(t, lines, {}, async ({ ask }) => {
    const values = await ask('label/app/values', minutes(-400, 400));
    t.deepEqual(values.body['data'], ['attic', 'shop']);
    t.deepEqual((await ask('label/app/values', minutes(100, 400))).body['data'], ['shop']);
    const series = await ask('series', { 'match[]': '{app=~".+"}', ...minutes(-400, 400) });
    t.is((series.body['data'] as readonly unknown[]).length, 2);
  });
});

test('each backend alone is asked for what is on its side', async (t) => {
  await withTwoBackends(t, spread, {}, async ({ lines, coldQueries, metric }) => {
    t.deepEqual(await lines(100, 400), ['young']);
    t.deepEqual(coldQueries, []);
    t.deepEqual(await lines(-400, -100), ['old']);
    t.true(coldQueries.length > 0);
    t.true((await metric('cold_routed_total{route="cold"}')) > 0);
    t.true((await metric('cold_routed_total{route="hot"}')) > 0);
  });
});

test('-cold-boundary says from which age on lines are cold', async (t) => {
  const use = async (boundary: string): Promise<readonly string[]> => {
    let found: readonly string[] = [];
    const flags = { 'cold-boundary': boundary };
    await withTwoBackends(t, spread, {}, async ({ lines }) => void (found = await lines(-400, 400)), flags);
    return found;
  };
  t.deepEqual(await use('168h'), inOrder);
  // Recent lines are now expected in the cold backend, which does not have them.
  t.deepEqual(await use('160h'), ['only cold', 'in both', 'old']);
});

test('-cold-overlap says how far around the boundary both backends are asked', async (t) => {
  const use = async (overlap: string): Promise<readonly string[]> => {
    let found: readonly string[] = [];
    const flags = { 'cold-overlap': overlap };
    await withTwoBackends(t, spread, {}, async ({ lines }) => void (found = await lines(-400, 400)), flags);
    return found;
  };
  t.deepEqual(await use('15m'), ['young', 'in both', 'old']);
  t.deepEqual(await use('25m'), inOrder);
});

test('an empty cold backend is not asked', async (t) => {
  await withTwoBackends(t, spread, { manifest: manifest(0, 0) }, async ({ lines, coldQueries }) => {
    t.deepEqual(await lines(-400, 400), ['young', 'in both', 'only hot']);
    t.deepEqual(coldQueries, []);
  });
});

test('what is younger than the newest line of the cold backend comes from the other, also before the boundary', async (t) => {
  const late = { minute: -100, text: 'not moved yet' };
  const lines = { hot: [late, young], cold: [old] };
  await withTwoBackends(t, lines, { manifest: manifest(-180) }, async ({ lines: read, coldQueries }) => {
    t.deepEqual(await read(-120, 400), ['young', 'not moved yet']);
    t.deepEqual(coldQueries, []);
    t.deepEqual(await read(-400, 400), ['young', 'not moved yet', 'old']);
  });
  await withTwoBackends(t, lines, {}, async ({ lines: read }) => {
    t.deepEqual(await read(-400, 400), ['young', 'old']);
  });
});

test('-cold-manifest-refresh says how often the manifest is read, and a bad one changes nothing', async (t) => {
  const manners = { manifest: manifest(0, 0) };
  const flags = { 'cold-manifest-refresh': '20ms' };
  await withTwoBackends(
    t,
    spread,
    manners,
    async ({ lines, manifestReads, log, metric }) => {
      const readAgain = async (): Promise<void> => {
        const before = manifestReads();
        while (manifestReads() < before + 2) await new Promise((resolve) => setTimeout(resolve, 5));
      };
      manners.manifest = `{"totalFiles":"many"${' '.repeat(100)}`;
      await readAgain();
      t.deepEqual(await lines(-400, 400), ['young', 'in both', 'only hot']);
      const told = (): number =>
        log.records.filter((record) =>
          String(record.get('body')).includes('cannot read the manifest of the cold backend'),
        ).length;
      t.is(told(), 1);
      // Valid, but without an end.
      manners.manifest = manifest(60) + ' '.repeat(100_000);
      await readAgain();
      t.deepEqual(await lines(-400, 401), ['young', 'in both', 'only hot']);
      manners.manifest = manifest(60);
      await readAgain();
      // Another query, because the answer to the first one is cached.
      t.deepEqual(await lines(-400, 400, '{app=~"sho."}'), inOrder);
      t.true((await metric('cold_manifest_reads_total{outcome="failed"}')) > 0);
      t.true((await metric('cold_newest_timestamp_seconds')) > 1e9);
    },
    flags,
  );
  await withTwoBackends(t, spread, { manifest: manifest(60) }, async ({ lines, manifestReads }) => {
    await lines(-400, 400);
    t.is(manifestReads(), 1);
  });
});
