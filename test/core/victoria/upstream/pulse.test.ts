import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { Strain } from '../../../../core/base/admission/strain.js';
import { Pulse } from '../../../../core/victoria/upstream/gate.js';

/** A pulse with a clock that each probe advances by its duration. */
function feel(took: readonly number[]) {
  const told: number[] = [];
  let [nowMs, looks] = [0, 0];
  const pulse = new Pulse({
    probe: () => {
      nowMs += took[Math.min(looks, took.length - 1)] ?? 0;
      looks += 1;
      return looks % 2 === 0 ? Promise.reject(new Error('no such path')) : Promise.resolve();
    },
    nowMs: () => nowMs,
    report: (lateMs) => told.push(Math.round(lateMs)),
  });
  return { pulse, told, looks: () => looks };
}

test('a backend is late by what its last looks took beyond twice the best and what a network may do', async (t) => {
  const { pulse, told } = feel([10, 15, 200, 4, 200]);
  pulse.calls(5);
  while (told.length < 5) await sleep(20);
  pulse.stop();
  t.deepEqual(told, [0, 0, 52, 37, 82]);
});

test('nothing is looked at while no more than one call runs', async (t) => {
  const { pulse, told, looks } = feel([10]);
  pulse.calls(1);
  await sleep(250);
  t.is(looks(), 0);
  pulse.calls(2);
  while (told.length === 0) await sleep(20);
  pulse.calls(0);
  await sleep(150);
  const before = looks();
  await sleep(250);
  t.is(looks(), before);
});

test('a look that does not come back is late as well', async (t) => {
  const told: number[] = [];
  let looks = 0;
  const pulse = new Pulse({
    probe: () => (++looks === 1 ? Promise.resolve() : new Promise(() => undefined)),
    nowMs: () => performance.now(),
    report: (lateMs) => told.push(lateMs),
  });
  pulse.calls(2);
  while (!told.some((lateMs) => lateMs > 50)) await sleep(20);
  pulse.stop();
  t.is(looks, 2);
});

test('the worst of what was told counts, for a second', (t) => {
  let nowMs = 0;
  const strain = new Strain(() => nowMs);
  const [one, other] = [strain.view('one'), strain.view('other')];
  t.is(one.lateMs, 0);
  one.report(30);
  nowMs = 500;
  other.report(12);
  t.is(other.lateMs, 30);
  one.report(3);
  t.is(one.lateMs, 12);
  nowMs = 1_501;
  t.is(one.lateMs, 0);
});
