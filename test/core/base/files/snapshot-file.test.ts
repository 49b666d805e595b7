import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { SnapshotFile } from '../../../../core/base/files/snapshot-file.js';
import { KeptSnapshot, type KeptSnapshotSettings } from '../../../../core/base/files/kept-snapshot.js';
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

/** A snapshot that is kept in this file; its source changes with each revision. */
async function keptAt(
  path: string,
  host: FakeHost,
  {
    restore = () => Promise.resolve(true),
    ...settings
  }: Pick<KeptSnapshotSettings, 'source' | 'observer'> &
    Partial<Pick<KeptSnapshotSettings, 'restore' | 'intervalMs'>>,
): Promise<KeptSnapshot> {
  const { clock, log } = host;
  const fixed = { flag: '-some-persist-path', format, intervalMs: 3_600_000 };
  const kept = new KeptSnapshot({ ...fixed, ...settings, path, clock, log, restore });
  await kept.start();
  return kept;
}

test('a snapshot is written when something has changed and a last time in the end', async (t) => {
  const path = join(await folderFor(t), 'snapshot.json');
  const file = fileAt(path);
  let written = 0;
  let known: readonly string[] = ['a'];
  let restored: (isSaved: boolean) => void = () => undefined;
  const kept = await keptAt(path, makeHost(), {
    source: { revision: () => known.length, entries: () => entries(...known) },
    observer: { wrote: () => (written += 1), failed: () => undefined },
    restore: () => new Promise((resolve) => (restored = resolve)),
  });
  known = ['a', 'b'];
  await kept.write();
  t.is(written, 0, 'not before the file was read');
  restored(true);
  await kept.restored();
  await kept.write();
  t.is(written, 0, 'what it began with is in the file');
  known = ['a', 'b', 'c'];
  await Promise.all([kept.write(), kept.write()]);
  await kept.write();
  t.is(written, 1);
  t.deepEqual([...((await contentOf(file)) ?? new Map<string, unknown>()).keys()], ['a', 'b', 'c']);
  known = ['a', 'b', 'c', 'd'];
  await kept.stop();
  t.deepEqual([...((await contentOf(file)) ?? new Map<string, unknown>()).keys()], ['a', 'b', 'c', 'd']);
  t.is(written, 2);
});

test('a disk that fails to take snapshots is one log record, and what was lost is written once it does', async (t) => {
  const folder = join(await folderFor(t), 'disk');
  await mkdir(folder);
  const host = makeHost();
  let [revision, failed] = [0, 0];
  const wrote: number[] = [];
  const kept = await keptAt(join(folder, 'snapshot.json'), host, {
    source: {
      revision: () => revision,
      entries: () => {
        host.clock.advance(30);
        return entries('a');
      },
    },
    observer: { wrote: (bytes, tookMs) => wrote.push(bytes, tookMs), failed: () => (failed += 1) },
  });
  await kept.restored();
  await rm(folder, { recursive: true });
  revision = 1;
  await kept.write();
  await kept.write();
  t.is(failed, 2);
  await mkdir(folder);
  await kept.write();
  await kept.stop();
  const { size } = await stat(join(folder, 'snapshot.json'));
  t.deepEqual(wrote, [size, 30]);
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
  const path = join(folder, 'snapshot.json');
  let known = ['secret', 'other'];
  let revision = 0;
  const kept = await keptAt(path, makeHost(), {
    source: { revision: () => revision, entries: () => entries(...known) },
    observer: { wrote: () => undefined, failed: () => undefined },
    restore: () => Promise.resolve(false),
  });
  await kept.restored();
  const writing = kept.write();
  await kept.forget(() => {
    known = ['other'];
    revision += 1;
  });
  t.deepEqual(await readdir(folder), []);
  await writing;
  await kept.stop();
  t.deepEqual([...((await contentOf(fileAt(path))) ?? [])], [['other', 0]]);
});

test('a snapshot that was stopped is not written again, even if entries are dropped', async (t) => {
  const folder = await folderFor(t);
  let revision = 0;
  const kept = await keptAt(join(folder, 'snapshot.json'), makeHost(), {
    source: { revision: () => revision, entries: () => entries('a') },
    observer: { wrote: () => undefined, failed: () => undefined },
    intervalMs: 5,
  });
  await kept.restored();
  await kept.stop();
  await kept.forget(() => (revision += 1));
  await pause(50);
  t.deepEqual(await readdir(folder), []);
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
