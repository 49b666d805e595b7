import { setMaxListeners } from 'node:events';
import test from 'ava';
import { ApiError } from '../../../../../core/base/errors/api-error.js';
import { heavyGate, pacedSlots } from '../../../../../core/victoria/upstream/gates/call-gates.js';
import { WaitBudget } from '../../../../../core/base/time/waits.js';

const { signal } = new AbortController();
const longBudget = (): WaitBudget => new WaitBudget(60_000, () => performance.now());

function makeGate(limit: number, queueWaitMs = 20_000) {
  const seen = { running: 0, waiting: 0, refused: 0 };
  const enter = heavyGate({
    limit,
    queueWaitMs,
    nowMs: () => performance.now(),
    onChange: (running, waiting) => Object.assign(seen, { running, waiting }),
    onRefused: () => (seen.refused += 1),
  });
  return { enter, seen };
}

test('so many get in, the others in the order of coming', async (t) => {
  const { enter, seen } = makeGate(2);
  const first = await enter(['a'], longBudget(), signal);
  const second = await enter(['a'], longBudget(), signal);
  const order: string[] = [];
  const third = enter(['a'], longBudget(), signal).then((leave) => {
    order.push('third');
    return leave;
  });
  const fourth = enter(['a'], longBudget(), signal).then((leave) => {
    order.push('fourth');
    return leave;
  });
  t.deepEqual(seen, { running: 2, waiting: 2, refused: 0 });
  first();
  first();
  (await third)();
  (await fourth)();
  second();
  t.deepEqual(order, ['third', 'fourth']);
  t.deepEqual(seen, { running: 0, waiting: 0, refused: 0 });
});

test('work that nobody waits for leaves a permit of heavy queries, and does not wait for one', async (t) => {
  const { enter, seen } = makeGate(2);
  const background = (): Promise<() => void> => enter(['b'], longBudget(), signal, true);
  const first = await background();
  await t.throwsAsync(background(), { instanceOf: ApiError });
  const second = await enter(['a'], longBudget(), signal);
  t.deepEqual(seen, { running: 2, waiting: 0, refused: 1 });
  first();
  await t.throwsAsync(background(), { instanceOf: ApiError });
  second();
  (await background())();
});

test('a permit goes to the tenant that holds fewest', async (t) => {
  const { enter } = makeGate(2);
  const leaves = [await enter(['busy'], longBudget(), signal), await enter(['busy'], longBudget(), signal)];
  const order: string[] = [];
  const waits = ['busy', 'calm'].map(async (owner) => {
    const leave = await enter([owner], longBudget(), signal);
    order.push(owner);
    leave();
  });
  leaves[0]?.();
  await Promise.all(waits);
  t.deepEqual(order, ['calm', 'busy']);
});

test('who waits too long is told by which limits', async (t) => {
  const { enter, seen } = makeGate(1, 20_000);
  const leave = await enter(['a'], longBudget(), signal);
  const budget = new WaitBudget(1, () => performance.now());
  const error = await t.throwsAsync(enter(['a'], budget, signal), { instanceOf: ApiError });
  t.is(error.status, 429);
  t.is(
    error.message,
    'too many outstanding requests: heavy VictoriaLogs queries are limited to -backend-max-concurrent-heavy-queries=1 per replica ' +
      'and this query waited -backend-heavy-query-queue-wait=20s; retry later, narrow the time range, or raise these limits',
  );
  t.is(seen.refused, 1);
  // A request that was refused once does not wait again.
  await t.throwsAsync(enter(['a'], budget, signal), { instanceOf: ApiError });
  leave();
  (await enter(['a'], budget, signal))();
  t.is(seen.running, 0);
});

test('who goes away leaves the queue of heavy reads', async (t) => {
  const { enter, seen } = makeGate(1);
  const leave = await enter(['a'], longBudget(), signal);
  const controller = new AbortController();
  const waited = enter(['a'], longBudget(), controller.signal);
  controller.abort(new Error('gone'));
  await t.throwsAsync(waited, { message: 'gone' });
  t.deepEqual(seen, { running: 1, waiting: 0, refused: 0 });
  leave();
});

test('the queue is bounded', async (t) => {
  const { enter } = makeGate(1);
  const leave = await enter(['a'], longBudget(), signal);
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const waits = Array.from({ length: 500 }, () => enter(['a'], longBudget(), controller.signal));
  await t.throwsAsync(enter(['a'], longBudget(), signal), {
    message: /-backend-max-concurrent-heavy-queries=1 per replica and 500 queries are waiting/,
  });
  controller.abort(new Error('gone'));
  const ended = await Promise.allSettled(waits);
  t.true(ended.every(({ status }) => status === 'rejected'));
  leave();
});

test('without a limit nobody waits', async (t) => {
  const { enter, seen } = makeGate(0);
  await Promise.all(Array.from({ length: 50 }, () => enter(['a'], longBudget(), signal)));
  t.is(seen.waiting, 0);
});

test('waits that go on at once count once', (t) => {
  let now = 0;
  const budget = new WaitBudget(100, () => now);
  const [endFirst, endSecond] = [budget.begin(), budget.begin()];
  now = 30;
  t.is(budget.leftMs, 70);
  endFirst();
  now = 40;
  endSecond();
  endSecond();
  now = 90;
  t.is(budget.leftMs, 60);
});

test('a permit with a pause is free again later, and nobody waits for the pause itself', async (t) => {
  let waiting = 0;
  const enter = pacedSlots({ permits: 2, pauseMs: 5, onChange: (count) => (waiting = count) });
  const leaves = [await enter(signal), await enter(signal)];
  // A pause does not keep the process alive, so the test needs a timer.
  const alive = setInterval(() => undefined, 1_000);
  const third = enter(signal);
  t.is(waiting, 1);
  leaves[0]?.();
  leaves[0]?.();
  t.is(waiting, 1);
  const leave = await third;
  clearInterval(alive);
  t.is(waiting, 0);
  leave();
});

test('who goes away does not take a paced permit', async (t) => {
  const enter = pacedSlots({ permits: 1, pauseMs: 0, onChange: () => undefined });
  const leave = await enter(signal);
  const controller = new AbortController();
  const waited = enter(controller.signal);
  controller.abort(new Error('gone'));
  await t.throwsAsync(waited, { message: 'gone' });
  leave();
  await t.notThrowsAsync(enter(signal));
});

test('no more than 500 wait for a paced permit', async (t) => {
  const waiting: number[] = [];
  const enter = pacedSlots({ permits: 1, pauseMs: 0, onChange: (count) => waiting.push(count) });
  const leave = await enter(signal);
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const waits = Array.from({ length: 500 }, () => enter(controller.signal));
  await t.throwsAsync(enter(signal), {
    message: /limited to -stats-query-range-concurrency=1 per replica/,
  });
  controller.abort(new Error('gone'));
  await Promise.allSettled(waits);
  t.is(Math.max(...waiting), 500);
  t.is(waiting.at(-1), 0);
  leave();
});
