import { open, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Engine } from '../../../core/cache/disk-engine/engine.js';
import { openDiskFile, type DiskStore } from '../../../core/cache/disk-file.js';
import { answerOf } from './disk-answers.js';
import { eachEngine } from './disk-engines.js';
import { fileFor, openTier } from './disk.js';

const hour = 3_600_000;

eachEngine('what was written is there after a restart, with the time that is left', async (t, engine) => {
  for (const diskCacheCompress of [true, false]) {
    const path = await fileFor(t);
    const first = await openTier({ engine, path, options: { diskCacheCompress } });
    first.tier.set('a', answerOf(1), hour);
    t.deepEqual((await first.tier.get('a'))?.packed, answerOf(1), 'before it is written');
    await first.tier.close();
    const { host } = first;
    host.clock.advance(600_000);
    const { tier, told } = await openTier({ engine, path, host });
    t.deepEqual(await tier.get('a'), { packed: answerOf(1), leftMs: hour - 600_000, ageMs: 600_000 });
    t.is(await tier.get('b'), undefined);
    t.deepEqual([told.hits, told.misses, told.entries], [1, 1, 1]);
    t.is((await stat(path)).mode & 0o777, 0o600, 'nobody else may read lines of logs');
    await tier.close();
  }
});

eachEngine('what compresses takes less room, unless compression is off', async (t, engine) => {
  const sizes: number[] = [];
  for (const diskCacheCompress of [true, false]) {
    const { tier, told } = await openTier({ engine, path: await fileFor(t), options: { diskCacheCompress } });
    tier.set('a', Buffer.from('abcdefgh'.repeat(50_000)), hour);
    await tier.flush();
    sizes.push(told.bytes);
    await tier.close();
  }
  t.true((sizes[0] ?? 0) < 100_000 && (sizes[1] ?? 0) > 400_000, sizes.join());
});

eachEngine('answers kept for less than the least time are not written', async (t, engine) => {
  const { tier, told, host } = await openTier({ engine, path: await fileFor(t) });
  tier.set('short', answerOf(1), 29_999);
  tier.set('waited too long', answerOf(2), 31_000);
  host.clock.advance(31_000);
  tier.set('long', answerOf(3), 30_000);
  await tier.flush();
  t.is(told.entries, 1);
  t.truthy(await tier.get('long'));
  t.is(told.drops.get('expired'), 1);
  await tier.close();
});

eachEngine(
  'a full buffer is written without waiting, and what does not fit into it is refused',
  async (t, engine) => {
    const { tier, told } = await openTier({
      engine,
      path: await fileFor(t),
      options: { diskCacheFlushSize: 3 },
    });
    for (const number of [1, 2, 3]) tier.set(`key ${number}`, answerOf(number), hour);
    await tier.delete('nothing');
    t.is(told.entries, 3);
    for (let number = 0; number < 5; number += 1) tier.set(`large ${number}`, Buffer.alloc(9_000_000), hour);
    t.is(told.drops.get('refused'), 2);
    await tier.close();
  },
);

eachEngine('an expired answer is a miss, and goes from the file', async (t, engine) => {
  const { tier, told, host } = await openTier({ engine, path: await fileFor(t) });
  tier.set('a', answerOf(1), 60_000);
  tier.set('b', answerOf(2), hour);
  await tier.flush();
  host.clock.advance(60_000);
  t.is(await tier.get('a'), undefined);
  await tier.tick();
  t.deepEqual([told.entries, told.drops.get('expired')], [1, 1]);
  t.truthy(await tier.get('b'));
  await tier.close();
});

eachEngine('an answer written before the clock was set back is a miss', async (t, engine) => {
  const { tier, host } = await openTier({ engine, path: await fileFor(t) });
  tier.set('a', answerOf(1), 60_000);
  await tier.flush();
  host.clock.advance(-hour);
  t.is(await tier.get('a'), undefined);
  await tier.close();
});

eachEngine('over the bound the answers written first go, and the file stays under it', async (t, engine) => {
  const path = await fileFor(t);
  const diskCacheMaxBytes = 1_000_000;
  const { tier, told } = await openTier({ engine, path, options: { diskCacheMaxBytes } });
  for (let number = 0; number < 100; number += 1) {
    tier.set(`key ${number}`, answerOf(number, 30_000), hour);
    if (number % 10 === 9) await tier.flush();
  }
  tier.set('too large for the bound', answerOf(0, 110_000), hour);
  await tier.flush();
  const found: number[] = [];
  for (let number = 0; number < 100; number += 1) if (await tier.get(`key ${number}`)) found.push(number);
  t.true(found.length > 20 && found.length < 34, `${found.length}`);
  t.is(found.at(-1), 99);
  t.is(found[0], 100 - found.length);
  t.is(told.drops.get('evicted'), 100 - found.length);
  t.is(told.drops.get('refused'), 1);
  await tier.close();
  const { size } = await stat(path);
  t.true(size <= diskCacheMaxBytes, `${size}`);
});

eachEngine('the file shrinks when answers have gone', async (t, engine) => {
  const { tier, told, host } = await openTier({ engine, path: await fileFor(t) });
  for (let number = 0; number < 200; number += 1) tier.set(`key ${number}`, answerOf(number, 30_000), hour);
  await tier.flush();
  t.true(told.bytes > 6_000_000);
  host.clock.advance(hour);
  await tier.tick();
  t.true(told.bytes < 100_000, `${told.bytes}`);
  await tier.close();
});

eachEngine('a purge empties buffer and file, and what comes after it is kept', async (t, engine) => {
  const path = await fileFor(t);
  const { tier, host } = await openTier({ engine, path });
  tier.set('written', answerOf(1), hour);
  await tier.flush();
  tier.set('waiting', answerOf(2), hour);
  const purged = tier.purge();
  t.is(await tier.get('written'), undefined, 'while it is purged');
  await purged;
  t.is(await tier.get('written'), undefined);
  t.is(await tier.get('waiting'), undefined);
  tier.set('later', answerOf(3), hour);
  await tier.close();
  const again = await openTier({ engine, path, host });
  t.deepEqual([again.told.entries, (await again.tier.get('later'))?.packed], [1, answerOf(3)]);
  await again.tier.close();
});

/** Flips one bit in each page of a closed file, each time in a new copy, and passes the copies on. */
async function eachFlip(path: string, use: (copy: string) => Promise<void>): Promise<void> {
  const bytes = await readFile(path);
  for (let at = 137; at < bytes.length; at += 2_039) {
    const copy = `${path}-${at}`;
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(copy, damaged);
    await use(copy);
  }
}

eachEngine('a flipped bit, wherever it is, never changes an answer', async (t, engine) => {
  const path = await fileFor(t);
  const { tier, host } = await openTier({ engine, path });
  const numbers = [0, 1, 2, 3, 4, 5];
  for (const number of numbers) tier.set(`key ${number}`, answerOf(number, 6_000), hour);
  await tier.close();
  let misses = 0;
  await eachFlip(path, async (copy) => {
    const damaged = await openTier({ engine, path: copy, host });
    for (const number of numbers) {
      const found = await damaged.tier.get(`key ${number}`);
      if (found === undefined) misses += 1;
      else t.deepEqual(found, { packed: answerOf(number, 6_000), leftMs: hour, ageMs: 0 });
    }
    await damaged.tier.close();
  });
  t.true(misses > 10, `${misses} misses`);
});

eachEngine('a damaged answer is dropped, and told', async (t, engine) => {
  const path = await fileFor(t);
  const first = await openTier({ engine, path });
  first.tier.set('a', answerOf(1, 30_000), hour);
  await first.tier.close();
  const file = await open(path, 'r+');
  const at = (await readFile(path)).indexOf(answerOf(1, 30_000).subarray(10_000, 10_032));
  t.true(at > 0);
  await file.write(Buffer.from([0, 0]), 0, 2, at);
  await file.close();
  const { tier, told, host } = await openTier({ engine, path, host: first.host });
  t.is(await tier.get('a'), undefined);
  await tier.flush();
  t.deepEqual([told.drops.get('damaged'), told.entries], [1, 0]);
  t.is(host.records.at(-1)?.body, 'dropped a damaged entry of the disk cache');
  await tier.close();
});

eachEngine('an answer whose time of expiry has changed is dropped', async (t, engine) => {
  const path = await fileFor(t);
  const first = await openTier({ engine, path });
  first.tier.set('a', answerOf(1), 60_000);
  await first.tier.close();
  const bytes = await readFile(path);
  const expiry = Buffer.alloc(6);
  expiry.writeUIntBE(first.host.clock.nowMs() + 60_000, 0, 6);
  let found = 0;
  for (let at = bytes.indexOf(expiry); at >= 0; at = bytes.indexOf(expiry, at + 1), found += 1)
    bytes[at + 1] = (bytes[at + 1] ?? 0) ^ 0x40;
  t.true(found > 0);
  await writeFile(path, bytes);
  const { tier, told } = await openTier({ engine, path, host: first.host });
  t.is(await tier.get('a'), undefined);
  t.is(told.drops.get('damaged'), 1);
  await tier.close();
});

eachEngine(
  'a file that turns out to be damaged while it is used is put aside, and a new one begun',
  async (t, engine) => {
    const path = await fileFor(t);
    let isDamaged = false;
    const { tier, told, host } = await openTier({
      engine,
      path,
      open: async (file, isFresh) => {
        const store = await openDiskFile(file, isFresh, engine);
        const read = store.read.bind(store);
        store.read = (key) =>
          isDamaged
            ? Promise.reject(Object.assign(new Error('made up'), { code: 'SQLITE_CORRUPT' }))
            : read(key);
        return store;
      },
    });
    tier.set('a', answerOf(1), hour);
    await tier.flush();
    isDamaged = true;
    t.is(await tier.get('a'), undefined);
    isDamaged = false;
    tier.set('b', answerOf(2), hour);
    await tier.flush();
    await tier.flush();
    t.is(await tier.get('a'), undefined);
    t.deepEqual([told.isOn, told.failures], [true, 1]);
    t.deepEqual(
      host.records.map(({ body }) => body),
      ['disk cache file moved aside, starting with an empty one'],
    );
    t.true((await stat(`${path}.unusable`)).size > 0);
    await tier.close();
  },
);

eachEngine('a truncated file is put aside when it is found out, and a new one begun', async (t, engine) => {
  const path = await fileFor(t);
  const first = await openTier({ engine, path });
  for (let number = 0; number < 50; number += 1) first.tier.set(`key ${number}`, answerOf(number), hour);
  await first.tier.close();
  await truncate(path, 4096 * 6);
  const { tier, host, told } = await openTier({ engine, path, host: first.host });
  for (let number = 0; number < 50; number += 1) {
    const found = await tier.get(`key ${number}`);
    if (found !== undefined) t.deepEqual(found.packed, answerOf(number));
  }
  await tier.flush();
  tier.set('new', answerOf(1), hour);
  await tier.flush();
  t.deepEqual([told.isOn, told.entries], [true, 1]);
  t.is(host.records.at(-1)?.body, 'disk cache file moved aside, starting with an empty one');
  t.is(host.records.at(-1)?.fields['file.moved_to'], `${path}.unusable`);
  t.true((await stat(`${path}.unusable`)).size > 0);
  await tier.close();
});

eachEngine('a file of somebody else is put aside whole', async (t, engine) => {
  const begin: ((path: string) => Promise<void>)[] = [
    (path) => writeFile(path, 'not a database at all, but rather a text that is long enough'.repeat(100)),
    async (path) => {
      const others = await engine.connect(path);
      await others.execute('CREATE TABLE others (name TEXT)');
      await others.close();
    },
  ];
  for (const write of begin) {
    const path = await fileFor(t);
    await write(path);
    const before = await readFile(path);
    const { tier, host } = await openTier({ engine, path });
    t.is(host.records[0]?.fields['reason'], 'foreign');
    t.deepEqual(await readFile(String(host.records[0]?.fields['file.moved_to'])), before);
    tier.set('a', answerOf(1), hour);
    await tier.flush();
    t.truthy(await tier.get('a'));
    await tier.close();
  }
});

eachEngine('a file of another version is put aside', async (t, engine) => {
  const path = await fileFor(t);
  const first = await openTier({ engine, path });
  first.tier.set('a', answerOf(1), hour);
  await first.tier.close();
  const database = await engine.connect(path);
  await database.execute('PRAGMA user_version = 99');
  await database.close();
  const { tier, host, told } = await openTier({ engine, path, host: first.host });
  t.is(await tier.get('a'), undefined);
  t.deepEqual([host.records.at(-1)?.fields['reason'], told.entries], ['other version', 0]);
  await tier.close();
});

eachEngine('a path that cannot be written is an error that says so', async (t, engine) => {
  const path = await fileFor(t);
  await writeFile(path, '');
  for (const wrong of [dirname(path), join(path, 'cache.db'), `${path}-missing/cache.db`, '/proc/cache.db'])
    await t.throwsAsync(openTier({ engine, path: wrong }), {
      message: new RegExp(`^-disk-cache-path: cannot use ${wrong}: E[A-Z]+: `),
    });
});

/** A file whose writes fail as on a full disk while `isFull` is set. */
function fullDisk(engine: Engine) {
  const disk = { isFull: false, code: 'SQLITE_FULL', opened: 0 };
  const open = async (path: string, isFresh: boolean): Promise<DiskStore> => {
    disk.opened += 1;
    const store = await openDiskFile(path, isFresh, engine);
    return Object.assign(Object.create(store) as DiskStore, {
      read: (key: string) => store.read(key),
      dropExpired: (beforeMs: number, limit: number) => store.dropExpired(beforeMs, limit),
      size: () => store.size(),
      count: () => store.count(),
      close: () => store.close(),
      write: (rows: Parameters<DiskStore['write']>[0]) =>
        disk.isFull
          ? Promise.reject(Object.assign(new Error(`${disk.code}: made up`), { code: disk.code }))
          : store.write(rows),
    });
  };
  return { disk, open };
}

for (const code of ['SQLITE_FULL', 'SQLITE_READONLY', 'SQLITE_IOERR']) {
  eachEngine(`${code} turns the disk off with one log record, until it works again`, async (t, engine) => {
    const { disk, open: openFull } = fullDisk(engine);
    disk.code = code;
    const { tier, told, host } = await openTier({ engine, path: await fileFor(t), open: openFull });
    tier.set('before', answerOf(1), 10 * hour);
    await tier.flush();
    disk.isFull = true;
    tier.set('lost', answerOf(2), 10 * hour);
    await tier.flush();
    t.false(told.isOn);
    t.deepEqual([told.drops.get('lost'), told.failures], [1, 1]);
    t.is(await tier.get('before'), undefined);
    tier.set('not taken', answerOf(3), hour);
    await tier.tick();
    t.is(disk.opened, 1, 'not at once');
    for (let minute = 0; minute < 3; minute += 1) {
      host.clock.advance(60_000);
      await tier.tick();
      t.deepEqual((await tier.get('before'))?.packed, answerOf(1));
      tier.set('lost again', answerOf(4), hour);
      await tier.flush();
      t.false(told.isOn);
    }
    t.deepEqual(
      host.records.map(({ level, body }) => `${level}: ${body}`),
      ['error: disk cache failed and is turned off; the proxy retries every minute'],
    );
    disk.isFull = false;
    host.clock.advance(60_000);
    await tier.tick();
    tier.set('after', answerOf(5), hour);
    await tier.flush();
    t.true(told.isOn);
    t.is(host.records.at(-1)?.body, 'disk cache works again');
    t.truthy(await tier.get('after'));
    await tier.close();
  });
}
