import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { giveBackLater, giveBackMemory } from '../../../core/program/serve.js';

test.serial('memory that is given back changes nothing else', (t) => {
  const before = new Map([['kept', { text: 'x'.repeat(1_000) }]]);
  giveBackMemory();
  t.is(before.get('kept')?.text.length, 1_000);
  t.is(Reflect.get(globalThis, 'gc'), undefined);
});

test.serial(
  'memory is given back once nobody waits for an answer, and not after the process has begun to stop',
  async (t) => {
    const looks = [2, 1, 0];
    let given = 0;
    giveBackLater(
      () => looks.shift() ?? 0,
      1,
      () => (given += 1),
    );
    while (given === 0) await pause(5);
    t.deepEqual([looks, given], [[], 1]);
    giveBackLater(
      () => 0,
      1,
      () => t.fail(),
    )();
    await pause(20);
  },
);
