import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openDiskFile } from '../../../core/cache/disk-file.js';
import { answerOf } from './disk-answers.js';
import { eachEngine } from './disk-engines.js';
import { fileFor, openTier } from './disk.js';

const hour = 3_600_000;

eachEngine(
  'purges at once begin one new file, and one after the other leave none open',
  async (t, engine) => {
    const path = await fileFor(t);
    let [opened, closed] = [0, 0];
    const { tier } = await openTier({
      engine,
      path,
      open: async (file, isFresh) => {
        const store = await openDiskFile(file, isFresh, engine);
        opened += 1;
        const close = store.close.bind(store);
        store.close = () => {
          closed += 1;
          return close();
        };
        return store;
      },
    });
    await Promise.all([tier.purge(), tier.purge()]);
    t.deepEqual([opened, closed], [2, 1]);
    const first = tier.purge();
    await Promise.resolve();
    await Promise.all([first, tier.purge()]);
    tier.set('later', answerOf(1), hour);
    await tier.flush();
    t.deepEqual((await tier.get('later'))?.packed, answerOf(1));
    await tier.close();
    t.is(closed, opened);
  },
);

eachEngine(
  'a disk that does not answer is turned off, and a purge meanwhile still empties the file',
  async (t, engine) => {
    const path = await fileFor(t);
    let hangs = false;
    const { tier, told, host } = await openTier({
      engine,
      path,
      open: async (file, isFresh) => {
        const store = await openDiskFile(file, isFresh, engine);
        const read = store.read.bind(store);
        store.read = (key) => (hangs ? new Promise(() => undefined) : read(key));
        return store;
      },
    });
    tier.set('a', answerOf(1), hour);
    await tier.flush();
    hangs = true;
    t.is(await tier.get('a'), undefined);
    await tier.flush();
    t.false(told.isOn);
    hangs = false;
    await tier.purge();
    t.true(told.isOn);
    t.is(await tier.get('a'), undefined);
    t.is(host.records.length, 1);
    await tier.close();
    t.deepEqual((await readdir(dirname(path))).sort(), ['cache.db', 'cache.db-lock']);
  },
);

eachEngine('a read that is late because this process was busy turns nothing off', async (t, engine) => {
  const { tier, told } = await openTier({
    engine,
    path: await fileFor(t),
    open: async (file, isFresh) => {
      const store = await openDiskFile(file, isFresh, engine);
      const read = store.read.bind(store);
      store.read = async (key) => {
        // Takes longer than the timeout of a read, in a few turns of the event loop.
        for (let turn = 0; turn < 5; turn += 1) {
          const until = performance.now() + 220;
          while (performance.now() < until);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return read(key);
      };
      return store;
    },
  });
  tier.set('a', answerOf(1), hour);
  await tier.flush();
  t.deepEqual((await tier.get('a'))?.packed, answerOf(1));
  t.true(told.isOn);
  await tier.close();
});
