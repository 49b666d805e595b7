/**
 * The label index with a million values of one label: the time to learn, browse and search, how long other work waits meanwhile, the
 * memory, and the cost of the snapshot.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SharedValues, systemClock } from '../../core/kernel/plugin/exchange.js';
import type { KeptData } from '../../core/cache/kept-data.js';
import { LabelIndex, type IndexKey } from '../../core/cache/label-index/label-index.js';
import { keptIndex } from '../../core/cache/label-index/snapshot.js';
import type { Browse } from '../../core/wire/api/request.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const count = 1_000_000;
const key: IndexKey = { tenantId: 'shop', owner: 'shop', credentials: '', label: 'pod' };
const nothing = (): void => undefined;
const observer = { resized: nothing, evicted: nothing, refused: nothing };
const options = { maxEntries: count, maxLabels: 10, maxBytes: 1_000_000_000 };
const log = { debug: nothing, info: nothing, warn: console.warn, error: console.error };
const signal = new AbortController().signal;

/** Similar to pod names: 28 characters, in the sort order of the backend. */
const valueOf = (number: number): string =>
  `checkout-${(Math.imul(number, 0x9e37_79b1) >>> 0).toString(16).padStart(8, '0')}-pod-${String(number).padStart(6, '0')}`;

export async function run(): Promise<void> {
  const index = new LabelIndex(options, systemClock, observer);
  const made = Array.from({ length: count }, (_, number) => valueOf(number)).sort();
  // Flat strings, like those of a backend response.
  let values = JSON.parse(JSON.stringify(made)) as readonly string[] | undefined;
  made.length = 0;
  const some = (values ?? []).filter((_, number) => number % 4_001 === 0);
  collect();
  const before = process.memoryUsage();
  await timed('first listing of 1,000,000 values', () =>
    index.learn(key, values ?? [], true, index.generationOf(key)),
  );
  values = undefined;
  collect();
  const after = process.memoryUsage();
  const outside = (after.external + after.arrayBuffers - before.external - before.arrayBuffers) / 2;
  console.log(
    `memory of a value: ${(index.bytes / count).toFixed(1)} bytes counted, ${(outside / count).toFixed(1)} outside of the heap`,
  );
  await timed('250 values seen again', () => index.learn(key, some, false, index.generationOf(key)));
  const fresh = Array.from({ length: 20_000 }, (_, number) => `zz-${valueOf(number)}`);
  await timed('20,000 new values', () => index.learn(key, fresh, false, index.generationOf(key)));
  const browses: readonly (readonly [string, Browse])[] = [
    ['the first 200', { limit: 200 }],
    ['the first 10,000', { limit: 10_000 }],
    ['200 after half a million', { limit: 200, offset: 500_000 }],
    ['search: one value', { limit: 200, search: 'POD-654321' }],
    ['search: some', { limit: 200, search: 'abcd' }],
    ['search: nothing', { limit: 200, search: 'no such value' }],
    ['search: in all, the first 200', { limit: 200, search: 'checkout' }],
    ['search: in all, 200 after half a million', { limit: 200, offset: 500_000, search: 'checkout' }],
  ];
  for (const [name, browse] of browses) await timed(name, () => index.browse(key, browse, signal), 20);
  await snapshots(index);
}

async function snapshots(index: LabelIndex): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-bench-'));
  try {
    const path = join(folder, 'labels.json');
    const startup = { startupStaleThreshold: Infinity, startupPeerWarmTimeout: 0 };
    const kept = { persistPath: path, persistInterval: 1_000_000_000, maxEntries: count, ...startup };
    const snapshotOf = (of: LabelIndex): KeptData =>
      keptIndex(
        { options: kept, index: of, observer: { wrote: nothing, failed: nothing } },
        { clock: systemClock, log, shared: new SharedValues().for(nothing), onStop: nothing },
      );
    const writing = snapshotOf(index);
    await writing.start();
    await writing.file?.restored();
    await index.learn(key, ['one more'], false, index.generationOf(key));
    await timed('write the snapshot', async () => writing.file?.write());
    console.log(`bytes of a value in the file: ${((await stat(path)).size / count).toFixed(1)}`);
    const reading = snapshotOf(new LabelIndex(options, systemClock, observer));
    await timed('restore it', async () => {
      await reading.start();
      await reading.file?.restored();
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prints the median and the longest of several runs, and the longest event loop turn, also in CPU time. */
async function timed(name: string, work: () => Promise<unknown>, runs = 1): Promise<void> {
  const times: number[] = [];
  let used = 0;
  let longestTurn = 0;
  for (let each = 0; each < runs; each += 1) {
    let isDone = false;
    const begin = performance.now();
    const before = processorMs();
    const watch = (turnBefore: number): void => {
      const now = processorMs();
      longestTurn = Math.max(longestTurn, now - turnBefore);
      if (!isDone) setImmediate(watch, now);
    };
    setImmediate(watch, before);
    await work();
    isDone = true;
    times.push(performance.now() - begin);
    used += processorMs() - before;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  times.sort((a, b) => a - b);
  const [median, longest] = [times[times.length >> 1] ?? 0, times.at(-1) ?? 0];
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  console.log(
    `${name}: ${ms(median)}, longest ${ms(longest)}; processor ${ms(used / runs)}, longest turn ${ms(longestTurn)}`,
  );
}

/** CPU time of the process, garbage collector threads included. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
