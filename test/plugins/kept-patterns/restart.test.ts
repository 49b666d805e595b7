import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'ava';
import { withProxy } from '../../../core/testing/index.js';
import { isReady, logsFor, metric, metrics, pipeline } from './fixtures.js';
import { until } from '../../setup/until.js';

/** Entries of other options; reading them takes as long as reading any others. */
const others = Array.from(
  { length: 150_000 },
  (_none, index) => `"patterns:0:${index}":{"value":"e30=","updated_at_unix_nano":1,"pattern_count":1}`,
).join(',');

/** A snapshot that takes longer to read than a request. */
function longSnapshot(more = ''): string {
  return `{"version":1,"saved_at_unix_nano":1,"entries_by_key":{${others}${more}}}`;
}

test('a proxy that is started again answers the first request for patterns of the past from its snapshot', async (t) => {
  const { backend, flags, patterns, asked, snapshot } = await logsFor(t);
  const yaml = pipeline(backend.url);
  let first: unknown;
  await withProxy(yaml, async ({ url }) => (first = await patterns(url)), { flags });
  t.true(Array.isArray(first) && first.length > 0);
  const { version, saved_at_unix_nano, entries_by_key } = await snapshot();
  t.is(version, 1);
  t.true(Math.abs(saved_at_unix_nano / 1e6 - Date.now()) < 600_000);
  const [key] = Object.keys(entries_by_key);
  const entry = entries_by_key[key ?? ''];
  t.regex(key ?? '', /^patterns::query=%7Bapp%3D%22a%22%7D&start=\d+&end=\d+&step=19000000000&/);
  t.is(entry?.pattern_count, 1);
  t.deepEqual(JSON.parse(Buffer.from(entry?.value ?? '', 'base64').toString()), {
    status: 'success',
    data: first,
  });
  const before = asked();
  await withProxy(
    yaml,
    async ({ url }) => {
      await until(() => isReady(url));
      t.deepEqual(await patterns(url), first);
      t.deepEqual(await patterns(url, { query: '{ app = "a" }' }), first, 'the same selector');
      t.is(asked(), before);
      const value = await metrics(url);
      t.is(value('patterns_restored_disk_entries_total'), 1);
      t.is(value('patterns_restored_from_disk_total'), 1);
      t.is(value('patterns_restored_disk_bytes_total'), Buffer.from(entry?.value ?? '', 'base64').length);
      t.is(value('patterns_snapshot_hits_total'), 2);
      t.is(value('patterns_snapshot_reused_total'), 2);
    },
    { flags },
  );
});

test('without a path for a snapshot, or with one of other options, patterns are asked for again', async (t) => {
  const { backend, flags, path, patterns, asked } = await logsFor(t);
  const without = { 'server.register-instrumentation': 'true' };
  const answers: unknown[] = [];
  const answered = async (yaml: string, given: Readonly<Record<string, string>>): Promise<number> => {
    const before = asked();
    await withProxy(
      yaml,
      async ({ url }) => {
        await until(() => isReady(url));
        answers.push(await patterns(url));
      },
      { flags: given },
    );
    return asked() - before;
  };
  const yaml = pipeline(backend.url);
  t.true((await answered(yaml, without)) > 0);
  t.deepEqual(await readdir(dirname(path)), []);
  t.true((await answered(yaml, flags)) > 0);
  t.is(await answered(yaml, flags), 0);
  t.true((await answered(pipeline(backend.url, 'names: { labelStyle: passthrough }'), flags)) > 0);
  t.true((await answered(yaml, { ...flags, 'patterns-custom': '["user <_>"]' })) > 0);
  t.deepEqual(answers[2], answers[1]);
});

test('a snapshot is written as often as the interval says, and not without news', async (t) => {
  const { backend, flags, patterns, snapshot } = await logsFor(t);
  const often = { ...flags, 'patterns-persist-interval': '10ms' };
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      await patterns(url);
      await until(async () => (await metric(url, 'patterns_persist_writes_total')) === 1);
      t.is(Object.keys((await snapshot()).entries_by_key).length, 1);
      const value = await metrics(url);
      t.is(value('patterns_persisted_disk_entries'), 1);
      t.is(value('patterns_persisted_disk_patterns'), 1);
      t.is(value('patterns_persisted_disk_bytes'), value('patterns_persist_write_bytes_total'));
      for (let round = 0; round < 5; round += 1) {
        await patterns(url);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      t.is(await metric(url, 'patterns_persist_writes_total'), 1);
      await patterns(url, { query: '{app="b"}' });
      await until(async () => (await metric(url, 'patterns_persist_writes_total')) === 2);
      t.is(Object.keys((await snapshot()).entries_by_key).length, 2);
    },
    { flags: often },
  );
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      await patterns(url, { from: 100 });
      await new Promise((resolve) => setTimeout(resolve, 50));
      t.is(await metric(url, 'patterns_persist_writes_total'), 0, 'the default is 30 s');
    },
    { flags },
  );
  t.is(Object.keys((await snapshot()).entries_by_key).length, 3, 'written in the end');
});

test('while a snapshot is restored the proxy is not ready, and answers; what it made meanwhile stays', async (t) => {
  const { backend, flags, path, patterns, asked, snapshot } = await logsFor(t);
  const yaml = pipeline(backend.url);
  await withProxy(yaml, ({ url }) => patterns(url), { flags });
  const [[key, real] = []] = Object.entries((await snapshot()).entries_by_key);
  await writeFile(path, longSnapshot(`,${JSON.stringify(key)}:${JSON.stringify(real)}`));
  const before = asked();
  await withProxy(
    yaml,
    async ({ url }) => {
      const ready = await fetch(`${url}/ready`);
      t.is(ready.status, 503);
      t.is(await ready.text(), 'patterns cache is loading');
      t.is((await patterns(url)).length, 1);
      t.true(asked() > before, 'it is not restored yet');
      await until(() => isReady(url));
      const value = await metrics(url);
      t.is(value('patterns_deduplicated_total{source="disk"}'), 1);
      t.is(value('patterns_restored_disk_entries_total'), 0);
      t.is(value('patterns_cache_keys'), 1);
    },
    { flags },
  );
  t.deepEqual(await readdir(dirname(path)), ['patterns.json']);
  const [[keyAfter, after] = []] = Object.entries((await snapshot()).entries_by_key);
  t.is(keyAfter, key);
  t.true(Number(after?.updated_at_unix_nano) > Number(real?.updated_at_unix_nano));
});

test('a proxy that is stopped while it restores a snapshot leaves the file as it is', async (t) => {
  const { backend, flags, path } = await logsFor(t);
  const text = longSnapshot();
  await writeFile(path, text);
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      t.is((await fetch(`${url}/ready`)).status, 503);
    },
    { flags },
  );
  t.is(await readFile(path, 'utf8'), text);
});

test('a snapshot that cannot be used is put aside, and patterns are asked for', async (t) => {
  const { backend, flags, path, patterns, asked } = await logsFor(t);
  const yaml = pipeline(backend.url);
  for (const [reason, text] of [
    ['damaged', '{"version":1,"saved_at_unix_nano":1,"entries_by_key":{"patterns:0:x":{"val'],
    ['damaged', '{"version":1,"saved_at_unix_nano":1,"entries_by_key":{"patterns:0:x":7}}'],
    ['other version', '{"version":2,"saved_at_unix_nano":1,"entries":[]}'],
    ['foreign', '<html></html>'],
  ] as const) {
    await writeFile(path, text);
    const before = asked();
    await withProxy(
      yaml,
      async ({ url, log }) => {
        await until(() => isReady(url));
        t.is((await patterns(url)).length, 1);
        t.true(JSON.stringify(log.records.map((record) => [...record])).includes(reason), reason);
      },
      { flags },
    );
    t.true(asked() > before, reason);
  }
  t.is((await readdir(dirname(path))).length, 4, 'the file, one of ours, and those of others');
});

test('a path for patterns that cannot be written keeps the proxy from starting', async (t) => {
  const { backend, flags, path } = await logsFor(t);
  await mkdir(path);
  for (const bad of [path, join(path, 'missing', 'patterns.json')])
    await t.throwsAsync(
      withProxy(pipeline(backend.url), () => Promise.resolve(), {
        flags: { ...flags, 'patterns-persist-path': bad },
      }),
      { message: /stage "kept-patterns" failed to start: -patterns-persist-path: cannot write .*: / },
    );
});

test('purged patterns come back neither from memory nor from the snapshot', async (t) => {
  const { backend, flags, patterns, snapshot } = await logsFor(t);
  const often = { ...flags, 'patterns-persist-interval': '10ms' };
  await withProxy(
    pipeline(backend.url),
    async ({ url, proxy }) => {
      for (const tenant of ['0', '1']) await patterns(url, { tenant });
      await until(async () => (await metric(url, 'patterns_persisted_disk_entries')) === 1);
      const flushed = await fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush?tenant=0`, { method: 'POST' });
      t.is(flushed.status, 200);
      const value = await metrics(url);
      t.is(value('patterns_cache_keys'), 0);
      t.is(value('patterns_in_memory'), 0);
      t.is(value('patterns_in_memory_bytes'), 0);
      await until(async () => (await metric(url, 'patterns_persisted_disk_entries')) === 0);
      t.deepEqual((await snapshot()).entries_by_key, {});
    },
    { flags: often },
  );
});

test('patterns that came with credentials are kept for those and never written', async (t) => {
  const { backend, flags, patterns, asked, snapshot } = await logsFor(t);
  const forwarding = { ...flags, 'forward-headers': 'x-user' };
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      await patterns(url, { headers: { 'x-user': 'ann' } });
      const before = asked();
      await patterns(url, { headers: { 'x-user': 'ann' } });
      t.is(asked(), before);
      await patterns(url, { headers: { 'x-user': 'bob' } });
      t.true(asked() > before);
      t.is(await metric(url, 'patterns_cache_keys'), 2);
      await patterns(url);
    },
    { flags: forwarding },
  );
  t.is(Object.keys((await snapshot()).entries_by_key).length, 1);
  t.false(JSON.stringify(await snapshot()).includes(':auth:'));
});
