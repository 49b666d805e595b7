import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'ava';
import { beginToRestore, keyOf, makeIndex, openFile, pathFor, type Made } from './made.js';

const [pod, app] = [keyOf('pod'), keyOf('app')];
const many = Array.from({ length: 20_000 }, (_, number) => `value ${number}`).sort();

/** Waits for the first label. */
async function untilBegun({ told }: Made): Promise<void> {
  while (told.labels === 0) await new Promise((resolve) => setImmediate(resolve));
}

test('the snapshot of an index has the form of the specification, and tells whose data it is about', async (t) => {
  const path = await pathFor(t);
  const made = makeIndex();
  const { file } = await openFile(made, path);
  await made.learn(pod, ['a', '"b"']);
  made.clock.advance(1);
  await made.learn(pod, ['a'], false);
  await file.write();
  const at = (ms: number): string => `${BigInt(made.clock.nowMs() + ms) * 1_000_000n}`;
  t.regex(
    await readFile(path, 'utf8'),
    new RegExp(
      `^{"version":1,"saved_at_unix_nano":${at(0)},"owners_by_key":{"shop\\|pod":"shop in account 1"},"states_by_key":{"shop\\|pod":{` +
        `"a":{"seen_count":2,"last_seen_unix_nano":${at(0)}},"\\\\"b\\\\"":{"seen_count":1,"last_seen_unix_nano":${at(-1)}}}},"crc32":\\d+}\n$`,
    ),
  );
  t.is((await stat(path)).mode & 0o777, 0o600);
  await file.stop();
});

test('a snapshot of another program in that form is taken: any order, unknown members, no owners', async (t) => {
  const path = await pathFor(t);
  const states = {
    'shop|pod': Object.fromEntries(
      ['b', 'a', '17', 'c'].map((value, number) => [
        value,
        {
          seen_count: number === 3 ? 2 : 1,
          last_seen_unix_nano: 1_793_491_200_000_000_123,
          more: [1, { x: 2 }],
        },
      ]),
    ),
    '|none': {},
  };
  const more = { text: '}"{', list: [{ a: [] }] };
  const whole = { more, states_by_key: states, version: 1, saved_at_unix_nano: 1e18, last: null };
  await writeFile(path, JSON.stringify(whole, null, 2));
  const made = makeIndex();
  const { host } = await openFile(made, path);
  t.deepEqual(await made.browse(pod), ['c', '17', 'a', 'b']);
  t.deepEqual(
    host.records.map(({ level, body }) => `${level}: ${body}`),
    ['info: label values index restored from its snapshot'],
  );
});

test('the snapshot of an index is written only when something has changed', async (t) => {
  const path = await pathFor(t);
  const made = makeIndex();
  const { file } = await openFile(made, path);
  await file.write();
  t.deepEqual(await readdir(dirname(path)), []);
  await made.learn(pod, ['a']);
  await file.write();
  await made.browse(pod);
  await file.write();
  t.is(made.told.written.length, 1);
  await made.learn(pod, ['b'], false);
  await Promise.all([file.write(), file.write()]);
  await file.stop();
  t.is(made.told.written.length, 2);
  const again = makeIndex();
  const { file: reopened } = await openFile(again, path);
  t.deepEqual(await again.browse(pod), ['a', 'b']);
  await reopened.stop();
  t.is(again.told.written.length, 0);
});

test('what depends on credentials, and labels with capital letters, do not outlive the process', async (t) => {
  const path = await pathFor(t);
  const made = makeIndex();
  const { file } = await openFile(made, path);
  const others = [keyOf('pod', { credentials: 'f00' }), keyOf('podName')];
  for (const key of [pod, ...others]) await made.learn(key, ['a']);
  await made.learn(app, ['of some streams'], false);
  await file.stop();
  const again = makeIndex();
  await openFile(again, path);
  t.deepEqual(await again.browse(pod), ['a']);
  for (const key of [...others, app, keyOf('podname')]) t.is(await again.browse(key), undefined);
});

test('a tenant whose data lie elsewhere now gets nothing from a snapshot', async (t) => {
  const path = await pathFor(t);
  const made = makeIndex();
  const { file } = await openFile(made, path);
  await made.learn(pod, ['a']);
  await file.stop();
  const again = makeIndex();
  await openFile(again, path);
  t.is(await again.browse({ ...pod, owner: 'shop in account 2' }), undefined);
});

test('a snapshot that was written with a higher bound is cut to the hottest values', async (t) => {
  const path = await pathFor(t);
  const made = makeIndex();
  const { file } = await openFile(made, path);
  await made.learn(pod, many);
  made.clock.advance(1);
  await made.learn(pod, ['value 777', 'value 7'], false);
  await file.stop();
  const again = makeIndex({ maxEntries: 3 });
  await openFile(again, path);
  t.deepEqual(await again.browse(pod), ['value 7', 'value 777', 'value 0']);
});

const good =
  '{"version":1,"saved_at_unix_nano":1,"states_by_key":{"shop|pod":{"a":{"seen_count":1,"last_seen_unix_nano":1}}}}';
const bad: readonly (readonly [name: string, text: string, reason: string])[] = [
  ['is empty', '', 'foreign'],
  ['is JSON of something else', '{"entries":[1,2]}', 'foreign'],
  ['is of a newer version', good.replace('1', '2'), 'other version'],
  ['is cut', good.slice(0, -20), 'damaged'],
  ['has a count that is none', good.replace('"seen_count":1', '"seen_count":"1"'), 'damaged'],
  ['has a time that is none', good.replace('nano":1}', 'nano":-1}'), 'damaged'],
  ['has an entry that is none', good.replace('{"seen_count":1,"last_seen_unix_nano":1}', 'null'), 'damaged'],
];

for (const [name, text, reason] of bad)
  test(`the snapshot of an index that ${name} is put aside and told of, and a new one begun`, async (t) => {
    const path = await pathFor(t);
    await writeFile(path, text);
    const made = makeIndex();
    const { file, host } = await openFile(made, path);
    t.is(await made.browse(pod), undefined);
    t.is(made.told.labels, 0);
    const [aside = ''] = await readdir(dirname(path));
    t.is(await readFile(join(dirname(path), aside), 'utf8'), text);
    t.deepEqual(
      host.records.map(({ level, fields }) => [level, fields['reason']]),
      [['warn', reason]],
    );
    await made.learn(pod, ['new']);
    await file.stop();
    const again = makeIndex();
    await openFile(again, path);
    t.deepEqual(await again.browse(pod), ['new']);
  });

test('of a snapshot of an index that is cut anywhere nothing is taken', async (t) => {
  const path = await pathFor(t);
  for (let length = 0; length < good.length; length += 1) {
    await writeFile(path, good.slice(0, length));
    const made = makeIndex();
    await openFile(made, path);
    t.is(await made.browse(pod), undefined, `${length}`);
    t.is(made.told.labels, 0);
  }
});

test('of a snapshot of an index that is damaged in its last label the others are not taken either', async (t) => {
  const path = await pathFor(t);
  const made = makeIndex();
  const { file } = await openFile(made, path);
  for (const key of [pod, app]) await made.learn(key, many);
  await file.stop();
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.slice(0, -1_000));
  const again = makeIndex();
  await openFile(again, path);
  for (const key of [pod, app]) t.is(await again.browse(key), undefined);
  t.is(again.told.labels, 0);
});

test('a disk that fails later costs the snapshot of the index and nothing else', async (t) => {
  const path = await pathFor(t);
  const [folder, elsewhere] = [dirname(path), `${dirname(path)}.away`];
  t.teardown(() => rm(elsewhere, { recursive: true, force: true }));
  const made = makeIndex();
  const { file, host } = await openFile(made, path);
  await made.learn(pod, ['a']);
  await rename(folder, elsewhere);
  await file.write();
  await file.write();
  t.is(made.told.failures, 2);
  t.is(host.records.length, 1);
  t.deepEqual(await made.browse(pod), ['a']);
  await rename(elsewhere, folder);
  await file.write();
  t.is(made.told.written.length, 1);
});

test('what a purge of the index drops does not come back from the snapshot', async (t) => {
  const path = await pathFor(t);
  const made = makeIndex();
  const { file } = await openFile(made, path);
  const other = keyOf('pod', { tenantId: 'other' });
  await made.learn(pod, ['gone']);
  await made.learn(other, ['stays']);
  const writing = file.write();
  await file.forget(() => made.index.purge('shop'));
  await writing;
  t.deepEqual(await readdir(dirname(path)), []);
  await file.stop();
  const again = makeIndex();
  await openFile(again, path);
  t.is(await again.browse(pod), undefined);
  t.deepEqual(await again.browse(other), ['stays']);
});

test('a purge while the snapshot is restored leaves nothing of it', async (t) => {
  const path = await pathFor(t);
  const made = makeIndex();
  const { file } = await openFile(made, path);
  for (const key of [pod, app]) await made.learn(key, many);
  await file.stop();
  const again = makeIndex();
  const { file: restoring } = await beginToRestore(again, path);
  await untilBegun(again);
  t.true(restoring.isWarming);
  await restoring.forget(() => again.index.purge());
  t.false(restoring.isWarming);
  for (const key of [pod, app]) t.is(await again.browse(key), undefined);
  t.is(again.told.labels, 0);
  t.deepEqual(await readdir(dirname(path)), []);
  await again.learn(pod, ['new']);
  await restoring.stop();
  t.true((await readFile(path, 'utf8')).includes('new'));
});

test('a process that ends while it restores leaves the snapshot as it was', async (t) => {
  const path = await pathFor(t);
  const made = makeIndex();
  const { file } = await openFile(made, path);
  for (const label of ['a', 'b', 'c']) await made.learn(keyOf(label), many);
  await file.stop();
  const text = await readFile(path, 'utf8');
  const again = makeIndex();
  const { file: restoring } = await beginToRestore(again, path);
  await untilBegun(again);
  await restoring.stop();
  await restoring.write();
  t.is(await readFile(path, 'utf8'), text);
});
