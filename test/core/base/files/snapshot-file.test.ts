import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SnapshotFile } from '../../../../core/base/files/snapshot-file.js';
import { SnapshotKeeper } from '../../../../core/base/files/kept-snapshot.js';
import type { WrittenEntry } from '../../../../core/base/files/snapshot-json.js';
import { makeHost, type FakeHost } from '../../../../core/testing/index.js';

const format = { version: 1, member: 'entries_by_key', depth: 1 } as const;

async function folderFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'snapshot-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function fileAt(path: string, host: FakeHost = makeHost()): SnapshotFile {
  return new SnapshotFile({ flag: '-some-persist-path', path, format, clock: host.clock, log: host.log });
}

/** `a` is 0, `b` is 1 and so on. */
function* entries(...names: readonly string[]): Generator<WrittenEntry> {
  for (const [index, name] of names.entries()) yield { names: [name], json: String(index) };
}

async function contentOf(file: SnapshotFile): Promise<ReadonlyMap<string, unknown> | undefined> {
  const content = new Map<string, unknown>();
  const read = await file.read(([name = ''], value) => content.set(name, value));
  return read && content;
}

test('a snapshot file is replaced as a whole and readable by its owner only', async (t) => {
  const folder = await folderFor(t);
  const file = fileAt(join(folder, 'snapshot.json'));
  await file.open();
  t.is(await contentOf(file), undefined, 'there is none yet');
  await file.write(entries('a', 'b'));
  const bytes = await file.write(entries('b', 'c'));
  t.deepEqual(
    await contentOf(file),
    new Map([
      ['b', 0],
      ['c', 1],
    ]),
  );
  t.deepEqual(await readdir(folder), ['snapshot.json']);
  t.deepEqual(await file.read(() => undefined), { savedAtMs: makeHost().clock.nowMs(), bytes });
});

test('a write of a snapshot that fails leaves the old one and nothing else', async (t) => {
  const folder = await folderFor(t);
  const file = fileAt(join(folder, 'snapshot.json'));
  await file.write(entries('a'));
  const broken = function* (): Generator<WrittenEntry> {
    yield* entries('b', 'c');
    throw new Error('no more');
  };
  await t.throwsAsync(file.write(broken()), { message: 'no more' });
  t.deepEqual(await contentOf(file), new Map([['a', 0]]));
  t.deepEqual(await readdir(folder), ['snapshot.json']);
});

test('a path where no snapshot can be written is refused by the name of its option', async (t) => {
  const folder = await folderFor(t);
  await writeFile(join(folder, 'plain'), '');
  await mkdir(join(folder, 'folder'));
  const refusals = [
    ['missing/snapshot.json', 'its directory does not exist'],
    ['folder', 'it is not a regular file'],
    ['plain/snapshot.json', 'a part of the path is a file, not a directory'],
  ] as const;
  for (const [name, reason] of refusals) {
    const path = join(folder, name);
    await t.throwsAsync(fileAt(path).open(), {
      message: `-some-persist-path: cannot write ${path}: ${reason}`,
    });
  }
});

test('what a killed writer of a snapshot has left is removed, and nothing of others', async (t) => {
  const folder = await folderFor(t);
  const names = ['other.json.0123abcd.tmp', 'snapshot.json.bak', 'snapshot.json.unusable'];
  for (const name of [...names, 'snapshot.json.0123abcd.tmp']) await writeFile(join(folder, name), '{');
  await fileAt(join(folder, 'snapshot.json')).open();
  t.deepEqual((await readdir(folder)).sort(), names);
});

test('a snapshot that cannot be used is put aside and logged', async (t) => {
  const bad = [
    ['damaged', '{"version":1,"entries_by_key":{"a":', 'snapshot.json.unusable'],
    ['other version', '{"version":2,"entries_by_key":{}}', 'snapshot.json.other-version-1793491200000'],
    ['foreign', '#!/bin/sh\n', 'snapshot.json.foreign-1793491200000'],
  ] as const;
  for (const [reason, text, name] of bad) {
    const folder = await folderFor(t);
    const path = join(folder, 'snapshot.json');
    await writeFile(path, text);
    const host = makeHost();
    const file = fileAt(path, host);
    await file.open();
    t.is(await contentOf(file), undefined);
    t.deepEqual(await readdir(folder), [name]);
    t.is(await readFile(join(folder, name), 'utf8'), text);
    t.deepEqual(
      host.records.map(({ level, body, fields }) => [level, body, fields['reason']]),
      [['warn', 'snapshot moved aside, starting with an empty one', reason]],
    );
    await file.write(entries('a'));
    t.deepEqual(await contentOf(file), new Map([['a', 0]]));
  }
});

test('other work runs while a large snapshot is written and read', async (t) => {
  const file = fileAt(join(await folderFor(t), 'snapshot.json'));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  t.teardown(() => clearInterval(timer));
  const names = Array.from({ length: 100_000 }, (_none, index) => `name ${index}`);
  await file.write(entries(...names));
  t.true(turns > 1);
  turns = 0;
  t.is((await contentOf(file))?.size, names.length);
  t.true(turns > 1);
});

test('reading a snapshot ends with its signal and puts nothing aside', async (t) => {
  const folder = await folderFor(t);
  const file = fileAt(join(folder, 'snapshot.json'));
  await file.write(entries(...Array.from({ length: 50_000 }, (_none, index) => `name ${index}`)));
  const reason = new Error('stopped');
  await t.throwsAsync(
    file.read(() => undefined, AbortSignal.abort(reason)),
    { is: reason },
  );
  t.deepEqual(await readdir(folder), ['snapshot.json']);
});

test('a snapshot is written when something has changed and a last time in the end', async (t) => {
  const written: string[][] = [];
  let known: readonly string[] = ['a'];
  const keeper = new SnapshotKeeper(
    {
      write: (given) => {
        written.push([...given].map(({ names }) => names.join()));
        return Promise.resolve(1);
      },
      remove: () => Promise.resolve(),
    },
    { revision: () => known.length, entries: () => entries(...known) },
    { wrote: () => undefined, failed: () => undefined },
    makeHost(),
  );
  known = ['a', 'b'];
  await keeper.write();
  t.deepEqual(written, [], 'not before it began');
  keeper.start(3_600_000);
  await keeper.write();
  t.deepEqual(written, [], 'what it began with is in the file');
  known = ['a', 'b', 'c'];
  await Promise.all([keeper.write(), keeper.write()]);
  await keeper.write();
  t.deepEqual(written, [['a', 'b', 'c']]);
  known = ['a', 'b', 'c', 'd'];
  await keeper.stop();
  t.deepEqual(written.at(-1), ['a', 'b', 'c', 'd']);
  t.is(written.length, 2);
});

test('a disk that fails to take snapshots is one log record, and what was lost is written once it does', async (t) => {
  const host = makeHost();
  let [isFull, revision, failed] = [true, 0, 0];
  const wrote: number[] = [];
  const keeper = new SnapshotKeeper(
    {
      write: () => {
        host.clock.advance(30);
        return isFull ? Promise.reject(new Error('disk full')) : Promise.resolve(7);
      },
      remove: () => Promise.resolve(),
    },
    { revision: () => revision, entries: () => [] },
    { wrote: (bytes, tookMs) => void wrote.push(bytes, tookMs), failed: () => (failed += 1) },
    host,
  );
  keeper.start(3_600_000);
  revision = 1;
  await keeper.write();
  await keeper.write();
  t.is(failed, 2);
  isFull = false;
  await keeper.write();
  await keeper.stop();
  t.deepEqual(wrote, [7, 30]);
  t.deepEqual(
    host.records.map(({ body }) => body),
    [
      'cannot write the snapshot; new entries are lost on a restart',
      'snapshot is written again after failures',
    ],
  );
});

test('what was taken out of a source is in no file from then on, also while one is written', async (t) => {
  const folder = await folderFor(t);
  const file = fileAt(join(folder, 'snapshot.json'));
  let known = ['secret', 'other'];
  let revision = 0;
  const keeper = new SnapshotKeeper(
    file,
    { revision: () => revision, entries: () => entries(...known) },
    { wrote: () => undefined, failed: () => undefined },
    makeHost(),
  );
  keeper.start(3_600_000, false);
  const writing = keeper.write();
  known = ['other'];
  revision += 1;
  await keeper.forget();
  t.deepEqual(await readdir(folder), []);
  await writing;
  await keeper.stop();
  t.deepEqual([...((await contentOf(file)) ?? [])], [['other', 0]]);
});

test('what stands beside the entries of a snapshot comes back, before them, and what was added is waited for', async (t) => {
  const file = fileAt(join(await folderFor(t), 'snapshot.json'));
  const names = Array.from({ length: 20_000 }, (_none, index) => `name ${index}`);
  await file.write(entries(...names), { owners: { a: 'b' }, count: 1 });
  const others = new Map<string, unknown>();
  let [added, settled, most] = [0, 0, 0];
  await file.read(
    () => {
      if (others.has('owners')) added += 1;
    },
    undefined,
    {
      others,
      settle: () => {
        most = Math.max(most, added - settled);
        settled = added;
        return Promise.resolve();
      },
    },
  );
  t.is(added, names.length);
  t.deepEqual([others.get('owners'), others.get('count')], [{ a: 'b' }, 1]);
  t.true(settled > 0 && most < names.length / 2, 'piece by piece');
});
