import test from 'ava';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PromiseQueue } from '../../../../core/base/pace/promise-queue.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapNow(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

test.serial('each wait is told once, in the order in which they end', async (t) => {
  const arrivals = new PromiseQueue<string>();
  let endFirst: (name: string) => void = () => undefined;
  arrivals.expect(new Promise((resolve) => (endFirst = resolve)));
  arrivals.expect(sleep(1, 'second'));
  t.is(await arrivals.next(), 'second');
  endFirst('first');
  arrivals.expect(Promise.resolve('third'));
  t.is(await arrivals.next(), 'first');
  t.is(await arrivals.next(), 'third');
});

test.serial('a failure is told in its turn, and is no unhandled rejection before', async (t) => {
  const arrivals = new PromiseQueue<string>();
  arrivals.expect(Promise.reject(new Error('it ended')));
  arrivals.expect(Promise.resolve('after'));
  await new Promise((resolve) => setImmediate(resolve));
  await t.throwsAsync(arrivals.next(), { message: 'it ended' });
  t.is(await arrivals.next(), 'after');
});

test.serial('a wait that stays pending costs no memory while others end', async (t) => {
  const arrivals = new PromiseQueue<string>();
  // The function that ends the wait keeps the promise and its reactions alive.
  let end: (name: string) => void = () => undefined;
  arrivals.expect(new Promise((resolve) => (end = resolve)));
  const before = heapNow();
  for (let round = 0; round < 50_000; round += 1) {
    arrivals.expect(Promise.resolve('look'));
    await arrivals.next();
  }
  const grown = heapNow() - before;
  t.true(grown < 2e6, `${grown} bytes`);
  end('row');
  t.is(await arrivals.next(), 'row');
});
