import test from 'ava';
import fc from 'fast-check';
import { FakeClock, withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';
import { logsFor, metric, metrics, pipeline } from './fixtures.js';
import { until } from '../../setup/until.js';
import { deepRuns } from '../../setup/runs.js';

test('patterns of the past are kept, and those of a range that may still change are not', async (t) => {
  const { backend, plain, patterns, asked } = await logsFor(t);
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      const first = await patterns(url);
      const before = asked();
      t.deepEqual(await patterns(url), first);
      t.is(asked(), before);
      const kept = await metrics(url);
      t.is(kept('patterns_snapshot_hits_total'), 1);
      t.is(kept('patterns_snapshot_misses_total'), 1);
      t.is(kept('patterns_stored_total'), 1);
      t.is(kept('patterns_in_memory'), 1);
      t.is(kept('patterns_cache_keys'), 1);
      t.true(kept('patterns_in_memory_bytes') > 100);
      t.is(kept('patterns_last_response_patterns'), 1);
      t.true(kept('patterns_last_response_bytes') > 100);
      await patterns(url, { to: -60 });
      await patterns(url, { to: -60 });
      t.true(asked() > before + 1);
      t.is(await metric(url, 'patterns_cache_keys'), 1);
      t.is(await metric(url, 'patterns_snapshot_misses_total'), 1, 'nothing was looked for');
    },
    { flags: plain },
  );
});

test('of answers that come for one key at once one is kept', async (t) => {
  const { backend, plain, patterns } = await logsFor(t);
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      const [first, second] = await Promise.all([patterns(url), patterns(url)]);
      t.deepEqual(first, second);
      t.is(await metric(url, 'patterns_deduplicated_total{source="mem"}'), 1);
      t.is(await metric(url, 'patterns_cache_keys'), 1);
      t.is(await metric(url, 'patterns_in_memory'), 1);
    },
    { flags: plain },
  );
});

test('an empty answer, a refusal and a failure are not kept', async (t) => {
  const { backend, flags, patterns, past } = await logsFor(t);
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      t.deepEqual(await patterns(url, { query: '{app="none"}' }), []);
      const refused = await fetch(
        `${url}/loki/api/v1/patterns?query=${encodeURIComponent('{app=}')}&start=1&end=2`,
      );
      t.is(refused.status, 400);
      for (const fault of [{ status: 500 }, { cutAfterRows: 20 }]) {
        const rules = JSON.stringify([{ path: '/select/logsql/query', ...fault }]);
        await fetch(`${backend.url}/-/faults`, { method: 'POST', body: rules });
        await fetch(`${url}/loki/api/v1/patterns?${past({})}`);
      }
      t.is(await metric(url, 'patterns_cache_keys'), 0);
      await fetch(`${backend.url}/-/faults`, { method: 'POST', body: '[]' });
      t.is((await patterns(url)).length, 1);
      t.is(await metric(url, 'patterns_cache_keys'), 1);
    },
    { flags },
  );
});

test('kept patterns have an eighth of the cache budget', async (t) => {
  const { backend, flags, patterns } = await logsFor(t);
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      for (let from = 130; from < 160; from += 1) await patterns(url, { from });
      const value = await metrics(url);
      const kept = value('patterns_cache_keys');
      t.true(kept > 0 && kept < 30, `${kept}`);
      t.true(value('patterns_in_memory_bytes') <= 40_000);
      t.is(value('patterns_dropped_total{reason="evicted"}'), 30 - kept);
      t.is(value('patterns_in_memory'), kept);
    },
    { flags: { ...flags, 'cache-max-bytes': '320000' } },
  );
});

test('what the search for patterns read and found is counted', async (t) => {
  const { backend, patterns } = await logsFor(t);
  const counts = async (more: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, number>> =>
    withProxy(
      pipeline(backend.url),
      async ({ url }) => {
        await patterns(url, { query: '{app=~"a|b"}' });
        const value = await metrics(url);
        const names = [
          'source_lines_requested_total',
          'source_lines_scanned_total',
          'source_lines_observed_total',
          'windows_attempted_total',
          'windows_accepted_total',
          'windows_capped_total',
          'second_pass_windows_total',
          'mined_pre_merge_total',
          'mined_post_merge_total',
          'detected_total',
          'low_coverage_responses_total',
        ];
        return new Map(names.map((name) => [name, value(`patterns_${name}`)]));
      },
      { flags: { 'server.register-instrumentation': 'true', ...more } },
    );
  t.deepEqual(
    [...(await counts({}))],
    [
      ['source_lines_requested_total', 240],
      ['source_lines_scanned_total', 240],
      ['source_lines_observed_total', 240],
      ['windows_attempted_total', 1],
      ['windows_accepted_total', 1],
      ['windows_capped_total', 0],
      ['second_pass_windows_total', 0],
      ['mined_pre_merge_total', 3],
      ['mined_post_merge_total', 2],
      ['detected_total', 2],
      ['low_coverage_responses_total', 0],
    ],
  );
  const sampled = await counts({
    'patterns-max-backend-rows': '72',
    'patterns-second-pass-max-rows': '10',
    'patterns-second-pass-max-windows': '2',
  });
  t.is(sampled.get('windows_attempted_total'), 24);
  t.is(sampled.get('windows_capped_total'), 24);
  t.is(sampled.get('second_pass_windows_total'), 2);
  t.is(sampled.get('source_lines_requested_total'), 82);
  t.true((sampled.get('source_lines_scanned_total') ?? 0) <= 82);
  t.is(sampled.get('low_coverage_responses_total'), 1);
});

test('who looks at lines of the past finds their patterns ready, where the option says so', async (t) => {
  const { backend, flags, patterns, lines, asked } = await logsFor(t);
  const yaml = pipeline(backend.url);
  await withProxy(
    yaml,
    async ({ url }) => {
      await lines(url, { query: '{app="a"} |= "user" | logfmt' });
      await until(async () => (await metric(url, 'patterns_cache_keys')) === 1);
      t.is(await metric(url, 'patterns_autodetect_total{outcome="found"}'), 1);
      const before = asked();
      t.is((await patterns(url)).length, 1);
      t.is(asked(), before);
      // Not detected: known patterns, a range that may still change, a query without lines, and a metric query.
      await lines(url, { query: '{app="a"} |= "host"' });
      await lines(url, { to: 0 });
      await lines(url, { query: '{app="none"}' });
      await lines(url, { query: 'count_over_time({app="b"}[1m])', more: { step: '60' } });
      await lines(url, { query: '{app="b"}', tenant: '0' });
      await until(async () => (await metric(url, 'patterns_cache_keys')) === 2);
      t.is(await metric(url, 'patterns_autodetect_total{outcome="found"}'), 2);
    },
    { flags: { ...flags, 'patterns-autodetect-from-queries': 'true' } },
  );
});

test('unless told otherwise nobody looks for patterns that were not asked for', async (t) => {
  const { backend, plain, lines, asked } = await logsFor(t);
  const after = async (given: Readonly<Record<string, string>>): Promise<number> =>
    withProxy(
      pipeline(backend.url),
      async ({ url }) => {
        await lines(url);
        const before = asked();
        await new Promise((resolve) => setTimeout(resolve, 600));
        return asked() - before;
      },
      { flags: { ...plain, ...given } },
    );
  t.is(await after({}), 0);
  const off = { 'patterns-autodetect-from-queries': 'true', 'patterns-enabled': 'false' };
  t.is(await after(off), 0, 'where none are served none are looked for');
});

test('with and without kept patterns every answer is the same, whatever was asked before', async (t) => {
  const { backend, flags, plain, patterns, lines } = await logsFor(t);
  const more = { 'patterns-autodetect-from-queries': 'true' };
  const off = pipeline(backend.url).replace('  - use: kept-patterns\n', '');
  // The patterns of a range within three hours of now depend on the lines around it, which do not change here.
  const clock = new FakeClock(BigInt(Date.now()) * 1_000_000n);
  const anAsking = fc.record({
    query: fc.constantFrom('{app="a"}', '{app=~"a|b"}'),
    from: fc.constantFrom(130, 105),
    to: fc.constantFrom(100, 50, 0),
    tenant: fc.constantFrom('0', '0', '1'),
    more: fc.constantFrom<Readonly<Record<string, string>>[]>(
      {},
      { step: '60' },
      { limit: '1' },
      { line_limit: '40' },
    ),
  });
  const aStep = fc.record({ asking: anAsking, looksAtLines: fc.boolean() });
  await withProxy(
    off,
    async ({ url: plain }) =>
      withProxy(
        pipeline(backend.url),
        async ({ url }) =>
          fc.assert(
            fc.asyncProperty(fc.array(aStep, { minLength: 6, maxLength: 12 }), async (steps) => {
              for (const { asking, looksAtLines } of steps) {
                if (looksAtLines) await lines(url, { ...asking, more: {} });
                t.deepEqual(
                  await patterns(url, asking),
                  await patterns(plain, asking),
                  JSON.stringify(asking),
                );
              }
            }),
            { endOnFailure: true, numRuns: deepRuns(3, 8) },
          ),
        { flags: { ...flags, ...more }, clock },
      ),
    { flags: plain, clock },
  );
});

test('a request with a limit gets no more patterns than that, whatever was asked before', async (t) => {
  const { backend, flags, patterns } = await logsFor(t);
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      const found = async (more?: Readonly<Record<string, string>>): Promise<number> =>
        (await patterns(url, { query: '{app=~"a|b"}', ...(more && { more }) })).length;
      const all = await found();
      t.true(all > 1);
      t.deepEqual([await found({ limit: '1' }), await found()], [1, all]);
    },
    { flags },
  );
});

test('lines that come late into the past of a purged tenant are in the patterns from then on', async (t) => {
  const { backend, flags, patterns } = await logsFor(t);
  await withProxy(
    pipeline(backend.url),
    async ({ url, proxy }) => {
      const counted = async (): Promise<number> =>
        (await patterns(url)).flatMap(({ samples }) => samples).reduce((sum, [, count]) => sum + count, 0);
      t.is(await counted(), 120);
      const lateNs = BigInt(Date.now() - 5_400_000) * 1_000_000n;
      const late = `level=info user 5 logged in from host 5 after 5 ms`;
      await pushLoki(backend.url, { app: 'a' }, [[lateNs, late]], '?disable_message_parsing=1');
      t.is(await counted(), 120);
      await fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
      t.is(await counted(), 121);
    },
    { flags },
  );
});
