import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { metric } from '../kept-patterns/fixtures.js';
import { until } from '../../setup/until.js';
import { FactsHouse, lineOf, rowAt, type Row } from './facts.js';

const restored = (url: string): Promise<void> =>
  until(async () => (await metric(url, 'learned_restored_total{source="disk"}')) > 0);

test('a proxy that is started again looks at no rows of the past that it has looked at', async (t) => {
  const house = await FactsHouse.open(t);
  const known: string[] = [];
  await house.with(async ({ url }) => {
    const first = await house.ask(url);
    t.true(first.looks > 0);
    const steady = await house.ask(url);
    t.is(steady.looks, 0);
    t.deepEqual(steady.values, first.values);
    known.push(...first.values);
    // Line samples are not kept, because they are cheap to read.
    t.true(steady.calls.length <= 5, steady.calls.join('\n'));
  });
  t.is((await stat(house.path)).mode & 0o777, 0o600);
  const kinds = new Set(Object.keys((await house.file()).facts_by_key).map((key) => key.split(' ')[0]));
  t.deepEqual(kinds, new Set(['stretches']));
  await house.with(async ({ url }) => {
    await restored(url);
    const again = await house.ask(url);
    t.is(again.looks, 0);
    t.deepEqual(again.values, known);
    t.true(again.calls.length <= 6, again.calls.join('\n'));
  });
});

test('facts keep the time that they had left over a restart', async (t) => {
  const house = await FactsHouse.open(t);
  await house.learn();
  const { facts_by_key: before } = await house.file();
  await house.with(async ({ url }) => {
    await restored(url);
    // A new query, so that the file is written.
    await house.ask(url, { query: 'sum(count_over_time({app="a"}[5m]))' });
  });
  const { facts_by_key: after } = await house.file();
  t.true(Object.keys(after).length > Object.keys(before).length);
  for (const [key, { expires_at_unix_nano: expires }] of Object.entries(before)) {
    const left = after[key]?.expires_at_unix_nano ?? 0;
    // Tolerates rounding to milliseconds, and two clocks that do not move exactly together.
    t.true(Math.abs(left - expires) < 5_000 * 1e6, `${left} ${expires}`);
  }
});

/** Changes to the rows while the proxy is down. */
const changes: Readonly<Record<string, readonly Row[]>> = {
  'new rows': Array.from({ length: 40 }, (_none, at): Row => [at * 7 + 3, lineOf(at + 5_000, 'ERROR')]),
  'a row pushed twice': [rowAt(110)],
  'many rows pushed twice': Array.from({ length: 30 }, (_none, at) => rowAt(at)),
  'a word that tells no level any more': [[3_005, 'w1x w2x INFO: ERROR w3x']],
};

for (const [name, rows] of Object.entries(changes))
  test(`rows that changed while a proxy was down are seen: ${name}`, async (t) => {
    const house = await FactsHouse.open(t);
    await house.learn();
    await house.push(rows);
    const truth = await house.fresh();
    await house.with(async ({ url }) => {
      await restored(url);
      const { values, looks } = await house.ask(url);
      t.deepEqual(values, truth);
      t.true(looks > 0);
    });
  });

test('facts of other checksums, other options or another release are not used', async (t) => {
  const house = await FactsHouse.open(t);
  await house.learn();
  const text = await readFile(house.path, 'utf8');
  const truth = await house.fresh();
  for (const change of [
    (): string => text.replace(/"salt":"[0-9a-f]{32}"/, `"salt":"${'0'.repeat(32)}"`),
    (): string => text.replace(/"setup":"[0-9a-f]{16}"/, '"setup":"0000000000000000"'),
    (): string => text.replace(/"release":"[^"]+"/, '"release":"0.0.0-before"'),
  ]) {
    await writeFile(house.path, change().replace(/,"crc32":\d+/, ''));
    await house.with(async ({ url }) => {
      const { values, looks } = await house.ask(url);
      t.deepEqual(values, truth);
      t.true(looks > 0);
    });
  }
});

test('a file of facts that cannot be used is put aside, and rows are looked at', async (t) => {
  const house = await FactsHouse.open(t);
  await house.learn();
  const text = await readFile(house.path, 'utf8');
  const truth = await house.fresh();
  for (const [reason, broken] of [
    ['damaged', text.slice(0, text.length / 2)],
    ['damaged', text.replace('"missing":0', '"missing":1')],
    ['damaged', text.replace('"surplus":[', '"surplus":[7').replace(/,"crc32":\d+/, '')],
    ['damaged', text.replace(/"salt":"[0-9a-f]+"/, '"salt":""').replace(/,"crc32":\d+/, '')],
    ['other version', '{"version":0,"facts":[]}'],
    ['foreign', '<html></html>'],
  ] as const) {
    await writeFile(house.path, broken);
    await house.with(async ({ url, log }) => {
      await until(() => log.records.some((record) => record.get('reason') === reason));
      t.deepEqual((await house.ask(url)).values, truth, reason);
    });
  }
  t.is((await readdir(house.folder)).length, 4, 'the file, one of ours, and those of others');
});

test('a path for facts that cannot be written keeps the proxy from starting', async (t) => {
  const house = await FactsHouse.open(t);
  await mkdir(house.path);
  for (const bad of [house.path, join(house.path, 'missing', 'facts.json')])
    await t.throwsAsync(
      house.with(() => Promise.resolve(), { 'facts-persist-path': bad }),
      { message: /stage "response-shape" failed to start: -facts-persist-path: cannot write .*: / },
    );
});

test('with an empty path, or without a data folder, no facts are written', async (t) => {
  const house = await FactsHouse.open(t);
  for (const flags of [{ ...house.flags, 'facts-persist-path': '' }, {}]) await house.learn(flags);
  t.deepEqual(await readdir(house.folder), []);
});

test('flushed facts come back neither from memory nor from the file, and those of other tenants stay', async (t) => {
  const house = await FactsHouse.open(t);
  await house.push(house.rows, { AccountID: '7', ProjectID: '0' });
  const owners = async (): Promise<number> =>
    new Set(Object.keys((await house.file()).facts_by_key).map((key) => /id=(\d*)&/.exec(key)?.[1])).size;
  const entries = (url: string): Promise<number> => metric(url, 'learned_entries{memory="stretches"}');
  await house.with(async ({ url }) => {
    for (const tenant of ['0', '7']) await house.ask(url, { headers: { 'x-scope-orgid': tenant } });
  });
  t.is(await owners(), 2);
  await house.with(async ({ url, proxy }) => {
    await restored(url);
    const both = await entries(url);
    const flush = `${proxy.urls.admin ?? ''}/admin/cache/flush`;
    t.is((await fetch(`${flush}?tenant=7`, { method: 'POST' })).status, 200);
    t.is(await entries(url), both / 2);
    t.deepEqual(await readdir(house.folder), []);
    t.is((await house.ask(url, { headers: { 'x-scope-orgid': '0' } })).looks, 0);
    t.true((await house.ask(url, { headers: { 'x-scope-orgid': '7' } })).looks > 0);
    t.is((await fetch(flush, { method: 'POST' })).status, 200);
    t.is(await entries(url), 0);
  });
  t.deepEqual((await house.file()).facts_by_key, {});
});

test('facts that came with credentials are never written', async (t) => {
  const house = await FactsHouse.open(t);
  const flags = { ...house.flags, 'forward-headers': 'x-user' };
  await house.with(async ({ url }) => {
    await house.ask(url, { headers: { 'x-user': 'ann' } });
    t.is((await house.ask(url, { headers: { 'x-user': 'ann' } })).looks, 0);
    t.true((await house.ask(url)).looks > 0);
  }, flags);
  const text = await readFile(house.path, 'utf8');
  t.true(Object.keys((await house.file()).facts_by_key).length > 0);
  t.false(/ann|credentials/.test(text));
});

test('a proxy that learns nothing new leaves the file of facts as it is', async (t) => {
  const house = await FactsHouse.open(t);
  await house.learn();
  const before = await house.file();
  // No request, so nothing is new.
  await house.with(({ url }) => restored(url));
  t.deepEqual(await house.file(), before);
});
