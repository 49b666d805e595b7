import test from 'ava';
import fc from 'fast-check';
import type { PermitShares, Tokens } from '../../../core/workers/workers.js';
import { makeFleet } from './fleet.js';

const rate = { name: 'rate', perSecond: 1 };

/** Takes tokens from all of these at once, and returns the number that were granted. */
async function takeAll(times: number, ...all: readonly (Tokens | undefined)[]): Promise<number> {
  const asked = all.flatMap((tokens) =>
    Array.from({ length: times }, async () => (await tokens?.take('a')) === true),
  );
  return (await Promise.all(asked)).filter(Boolean).length;
}

/** Waits enough turns for all messages in flight to arrive. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test.serial('as many tokens are taken by all workers as by one', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 40 })), { maxLength: 8 }),
      async (size, waves) => {
        const { workers } = await makeFleet(3);
        const tokens = workers.map((worker) => worker.tokens({ ...rate, size }));
        let [asked, taken] = [0, 0];
        for (const [worker, times] of waves) {
          asked += times;
          taken += await takeAll(times, tokens[worker]);
        }
        t.is(taken, Math.min(asked, size));
      },
    ),
    { numRuns: 60, endOnFailure: true },
  );
});

test.serial('workers that ask at the same time share a burst without a rest', async (t) => {
  const fleet = await makeFleet(3);
  const tokens = fleet.workers.map((worker) => worker.tokens({ ...rate, size: 50 }));
  t.is(await takeAll(40, ...tokens), 50);
  t.is(await takeAll(40, ...tokens), 0);
  fleet.clock.advance(7_001);
  t.is(await takeAll(40, ...tokens), 7);
  t.true(await tokens[0]?.take('another account'));
});

test.serial('what a worker that died had been lent is not lent again before it comes back', async (t) => {
  const fleet = await makeFleet(2);
  const [first, second] = fleet.workers.map((worker) => worker.tokens({ ...rate, size: 20 }));
  t.true(await first?.take('a'));
  fleet.replace(1);
  t.true((await takeAll(30, second)) < 20);
  fleet.clock.advance(60_000);
  t.is(await takeAll(30, second), 20);
});

/** Permits of a worker, with the number that the test uses. */
interface Desk {
  readonly permits: PermitShares;
  used: number;
  told: number;
}

async function makeDesks(count: number, size: number) {
  const fleet = await makeFleet(count);
  const desks = fleet.workers.map((worker) => {
    const desk = { used: 0, told: 0 };
    const permits = worker.permits({
      name: 'permits',
      size,
      inUse: () => desk.used,
      onMore: () => (desk.told += 1),
    });
    return Object.assign(desk, { permits });
  });
  const held = (): number => desks.reduce((sum, { permits }) => sum + permits.held, 0);
  return { ...fleet, desks, held };
}

/** Takes a permit if there is one. */
async function take(desk: Desk): Promise<boolean> {
  if (desk.used >= desk.permits.most) await desk.permits.more();
  if (desk.used >= desk.permits.most) return false;
  desk.used += 1;
  desk.permits.changed();
  return true;
}

function leave(desk: Desk): void {
  desk.used -= 1;
  desk.permits.changed();
}

test.serial(
  'all workers together never hold more permits than there are, and find one while one is free',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.boolean()), { maxLength: 60 }),
        async (size, steps) => {
          const { desks, held, clock } = await makeDesks(3, size);
          for (const [at, enters] of steps) {
            const desk = desks[at];
            if (desk === undefined) continue;
            const used = desks.reduce((sum, each) => sum + each.used, 0);
            // Advice to other workers has expired by then; without it a worker may take any number.
            clock.advance(2_000);
            if (enters) t.is(await take(desk), used < size);
            else if (desk.used > 0) leave(desk);
            t.true(held() <= size);
            await settle();
            t.true(held() <= size);
          }
        },
      ),
      { numRuns: 60, endOnFailure: true },
    );
  },
);

test.serial('a worker that has no permit is given its share as the requests of others end', async (t) => {
  const { desks } = await makeDesks(2, 6);
  const [greedy, poor] = desks;
  if (greedy === undefined || poor === undefined) return t.fail();
  for (let permit = 0; permit < 6; permit += 1) t.true(await take(greedy));
  t.false(await take(greedy));
  t.false(await take(poor));
  await settle();
  // The greedy worker would take the permit again at once.
  for (let turn = 0; turn < 3; turn += 1) {
    leave(greedy);
    if (greedy.used < greedy.permits.most) greedy.used += 1;
    await settle();
  }
  t.is(poor.permits.held, 3);
  t.is(poor.told, 3);
  t.is(greedy.permits.held, 3);
});

test.serial('permits of a worker that dies are free again, those of one that sleeps are not', async (t) => {
  const fleet = await makeDesks(2, 4);
  const [first, second] = fleet.desks;
  if (first === undefined || second === undefined) return t.fail();
  for (let permit = 0; permit < 4; permit += 1) t.true(await take(first));
  const wake = fleet.sleep(1);
  t.false(await take(second));
  wake();
  fleet.clock.advance(2_000);
  fleet.replace(1);
  for (let permit = 0; permit < 4; permit += 1) t.true(await take(second));
});
