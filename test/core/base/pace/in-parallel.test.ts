import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { inParallel } from '../../../../core/base/pace/in-parallel.js';

const forever = new AbortController().signal;

test.serial('results are in the order of the parts, whichever came first', async (t) => {
  const ended: number[] = [];
  const run = async (ms: number): Promise<string> => {
    await sleep(ms);
    ended.push(ms);
    return `${ms}`;
  };
  t.deepEqual(await inParallel([60, 1, 20], 3, run, forever), ['60', '1', '20']);
  t.deepEqual(ended, [1, 20, 60]);
  t.deepEqual(await inParallel([], 3, run, forever), []);
});

test.serial('no more parts than asked for run at once', async (t) => {
  let [running, most] = [0, 0];
  const run = async (): Promise<void> => {
    most = Math.max(most, (running += 1));
    await sleep(1);
    running -= 1;
  };
  await inParallel(Array.from({ length: 10 }), 3, run, forever);
  t.is(most, 3);
});

test.serial('the first failure ends the others and is that of the whole', async (t) => {
  const seen: unknown[] = [];
  const run = async (part: number, signal: AbortSignal): Promise<void> => {
    if (part === 1) throw new Error('the second');
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    seen.push(signal.reason);
  };
  const error = await t.throwsAsync(inParallel([0, 1, 2], 2, run, forever), { message: 'the second' });
  t.deepEqual(seen, [error]);
});
