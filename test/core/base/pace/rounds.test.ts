import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { Rounds } from '../../../../core/base/pace/rounds.js';

test.serial('each member is called about once in a period, and none twice before all were', async (t) => {
  const calls: number[] = [];
  const rounds = new Rounds(200);
  const leaves = Array.from({ length: 10 }, (_, index) => rounds.join(() => calls.push(index)));
  while (calls.length < 30) await sleep(5);
  leaves.forEach((leave) => leave());
  for (let round = 0; round < 3; round += 1)
    t.deepEqual(calls.slice(round * 10, round * 10 + 10), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test.serial('a loop that was late does not bring all calls at once', async (t) => {
  const rounds = new Rounds(1_000);
  let calls = 0;
  const leaves = Array.from({ length: 100 }, () => rounds.join(() => (calls += 1)));
  const until = performance.now() + 600;
  while (performance.now() < until);
  const before = calls;
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  // 60 calls were due meanwhile.
  t.true(calls - before < 15, String(calls - before));
  leaves.forEach((leave) => leave());
});

test.serial('who has left is not called, and a wait ends with its signal', async (t) => {
  // Rounds do not keep the process alive, so the test needs a timer.
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(alive));
  const rounds = new Rounds(40);
  let calls = 0;
  rounds.join(() => (calls += 1))();
  const controller = new AbortController();
  const waits = [rounds.next(controller.signal), new Rounds(3_600_000).next(controller.signal)];
  await waits[0];
  controller.abort();
  await Promise.all(waits);
  await rounds.next(controller.signal);
  t.is(calls, 0);
});
