import test from 'ava';
import type { HeldPermit } from '../../../core/base/admission/fair-queue.js';
import { alone } from '../../../core/workers/workers.js';
import { Admissions } from '../../../plugins/guard/admissions.js';

const { signal } = new AbortController();
const wholeWaitMs = 5_000;
const overloadedForMs = 5_000;

/** Admissions with a clock and a limit that the test controls. */
function makeAdmissions(max: number, limit = max) {
  const state = { nowMs: 0, limit, running: 0, waiting: 0, refused: [] as string[] };
  const clock = { monotonicMs: () => state.nowMs };
  const admissions = new Admissions({
    max,
    limit: () => state.limit,
    permitsOf: (inUse, onMore) => alone(clock).permits({ name: '', size: max, inUse, onMore }),
    queueWaitMs: wholeWaitMs,
    nowMs: () => state.nowMs,
    refusal: (reason) => {
      state.refused.push(reason);
      return new Error(reason);
    },
    onChange: (running, waiting) => Object.assign(state, { running, waiting }),
  });
  const enter = (tenant: string, request = {}, by = signal) => admissions.enter(request, [tenant, '::1'], by);
  return { admissions, state, enter };
}

test('a permit is free while its request waits for others, and taken again without asking', async (t) => {
  const { admissions, enter } = makeAdmissions(1);
  const first = await enter('a');
  const resume = first.pause();
  t.is(admissions.inFlight, 0);
  const second = await enter('a');
  resume();
  resume();
  t.is(admissions.inFlight, 2);
  first.leave();
  second.leave();
  t.is(admissions.inFlight, 0);
});

test('a request that left while it waited gives its permit back once', async (t) => {
  const { admissions, enter } = makeAdmissions(2);
  const permit = await enter('a');
  const resume = permit.pause();
  permit.leave();
  permit.leave();
  resume();
  t.is(admissions.inFlight, 0);
  const late = await enter('a');
  late.leave();
  late.pause()();
  t.is(admissions.inFlight, 0);
});

test('a request over several tenants holds its permit until all of its parts wait', async (t) => {
  const { admissions, enter } = makeAdmissions(2);
  const request = {};
  const parts = [await enter('a', request), await enter('b', request)];
  const resumes = parts.map((part, index) => {
    t.is(admissions.inFlight, 1, `before part ${index} waits`);
    return part.pause();
  });
  t.is(admissions.inFlight, 0);
  resumes[0]?.();
  t.is(admissions.inFlight, 1);
  resumes[1]?.();
  parts.forEach((part) => part.leave());
  t.is(admissions.inFlight, 0);
});

test('the parts of one request wait together and are refused together', async (t) => {
  const { state, enter } = makeAdmissions(2, 1);
  const first = await enter('a');
  const request = {};
  const parts = [enter('b', request), enter('c', request)].map((part) => Promise.resolve(part));
  t.is(state.waiting, 1);
  first.leave();
  for (const part of await Promise.all(parts)) part.leave();
  const refused = {};
  state.limit = 2;
  const again = [await enter('a'), await enter('a')];
  await t.throwsAsync(async () => enter('a', refused), { message: 'concurrency' });
  await t.throwsAsync(async () => enter('a', refused), { message: 'concurrency' });
  t.deepEqual(state.refused, ['concurrency']);
  again.forEach((permit) => permit.leave());
});

test('when one tenant has all permits, another waits for the next and is not refused', async (t) => {
  const { enter } = makeAdmissions(2);
  const held = [await enter('flood'), await enter('flood')];
  await t.throwsAsync(async () => enter('flood'), { message: 'concurrency' });
  const calm = enter('calm');
  held[0]?.leave();
  (await calm).leave();
  held[1]?.leave();
});

test('fewer run than are let in while the limit is low; they go on when it rises', async (t) => {
  const { admissions, state, enter } = makeAdmissions(10, 1);
  const first = await enter('a');
  const second = enter('a');
  t.deepEqual([state.running, state.waiting], [1, 1]);
  state.limit = 2;
  admissions.admit();
  const permit: HeldPermit = await second;
  t.deepEqual([state.running, state.waiting], [2, 0]);
  permit.leave();
  first.leave();
});

test('who goes away leaves the queue', async (t) => {
  const { state, enter } = makeAdmissions(10, 1);
  const first = await enter('a');
  const controller = new AbortController();
  const second = enter('a', {}, controller.signal);
  controller.abort(new Error('gone'));
  await t.throwsAsync(async () => second, { message: 'gone' });
  t.is(state.waiting, 0);
  first.leave();
});

test('under overload who floods is refused at once, and others wait as long as ever', async (t) => {
  const { state, enter } = makeAdmissions(6, 2);
  const held = [await enter('flood'), await enter('flood')];
  const burst = Array.from({ length: 4 }, () => enter('flood'));
  await t.throwsAsync(async () => enter('flood'), { message: 'concurrency' });
  for (const permit of burst) {
    held.shift()?.leave();
    held.push(await permit);
  }
  await t.throwsAsync(async () => enter('flood'), { message: 'overload' });
  const calm = enter('calm');
  held.shift()?.leave();
  held.push(await calm);
  state.nowMs += overloadedForMs;
  const patient = enter('flood');
  held.shift()?.leave();
  held.push(await patient);
  held.forEach((permit) => permit.leave());
  t.deepEqual(state.refused, ['concurrency', 'overload']);
  t.deepEqual([state.running, state.waiting], [0, 0]);
});

test('under overload a tenant over its share waits as long as another one asks more and the queue is short', async (t) => {
  const { state, enter } = makeAdmissions(12, 4);
  const flood = [await enter('flood'), await enter('flood'), await enter('flood'), await enter('flood')];
  const burst = Array.from({ length: 8 }, () => enter('flood'));
  await t.throwsAsync(async () => enter('flood'), { message: 'concurrency' });
  for (const permit of burst) {
    flood.shift()?.leave();
    flood.push(await permit);
  }
  // Two of four permits are its fair share. It then holds and awaits more than the flooding tenant, which is rejected immediately, but this
  // does not make it the flooding one.
  const calm = Array.from({ length: 6 }, () => enter('calm'));
  t.deepEqual([state.running, state.waiting], [4, 6]);
  await t.throwsAsync(async () => enter('flood'), { message: 'overload' });
  for (const permit of flood) permit.leave();
  for (const permit of calm) (await permit).leave();
  t.deepEqual([state.running, state.waiting], [0, 0]);
});

test('work that nobody waits for has room only beside the last permit, and while nobody waits', async (t) => {
  const { admissions, enter } = makeAdmissions(2);
  t.true(admissions.hasRoom);
  const first = await enter('a');
  t.false(admissions.hasRoom);
  first.leave();
  t.true(admissions.hasRoom);
});
