/** A process that writes to a disk cache until it is killed; after each flush it prints the number of values on disk. */
import { engineNames, loadEngine } from '../../../core/cache/disk-engine/engine.js';
import { openDiskFile } from '../../../core/cache/disk-file.js';
import { DiskTier } from '../../../core/cache/disk-tier.js';
import { answerOf } from './disk-answers.js';

const [, , path = '', wanted] = process.argv;
const name = engineNames.find((each) => each === wanted);
const engine = name === undefined ? undefined : await loadEngine(name);

const nothing = (): void => undefined;
const tier = await DiskTier.open({
  options: {
    diskCachePath: path,
    diskCacheCompress: true,
    diskCacheFlushSize: 1_000,
    diskCacheFlushInterval: 1_000,
    diskCacheMinTtl: 1,
    diskCacheMaxBytes: 0,
  },
  largest: 1_000_000,
  keepExpiredMs: 0,
  clock: { nowMs: () => 1_793_491_200_000, monotonicMs: () => performance.now() },
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  open: (file, isFresh) => openDiskFile(file, isFresh, engine),
  observer: {
    looked: nothing,
    dropped: nothing,
    resized: nothing,
    flushed: nothing,
    failed: nothing,
    switched: nothing,
  },
});
for (let count = 0; ;) {
  for (let each = 0; each < 20; each += 1, count += 1) tier.set(`key ${count}`, answerOf(count), 3_600_000);
  await tier.flush();
  process.stdout.write(`${count}\n`);
}
