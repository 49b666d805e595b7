import test from 'ava';
import { openDiskFile } from '../../../core/cache/disk-file.js';
import { answerOf } from './disk-answers.js';
import { fileFor, openTier } from './disk.js';

const hour = 3_600_000;

test('purges at once begin one new file, and one after the other leave none open', async (t) => {
  const path = await fileFor(t);
  let [opened, closed] = [0, 0];
  const { tier } = await openTier({
    path,
    open: async (file, isFresh) => {
      const store = await openDiskFile(file, isFresh);
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
});
