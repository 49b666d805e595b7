import test from 'ava';
import fc from 'fast-check';
import { AdaptiveLimit } from '../../../../plugins/guard/index.js';
import { FairQueue, type Owner } from '../../../../core/base/admission/fair-queue.js';
import { WaitBudget } from '../../../../core/base/time/waits.js';

const nowMs = (): number => 0;
const seed = 20_261_122;

function makeQueue(maxWaiting = 1_000): FairQueue {
  return new FairQueue({ maxWaiting, nowMs, refusal: (isFull) => new Error(isFull ? 'full' : 'late') });
}

interface Asker {
  readonly owner: Owner;
  readonly number: number;
  readonly controller: AbortController;
  readonly ended: Promise<unknown>;
}

/** A queue with a few permits that the test hands out, and a record of the requests that hold one or wait for one. */
class Trial {
  readonly queue = makeQueue();
  readonly inside: Asker[] = [];
  readonly outside: Asker[] = [];
  /** Requests that got a permit after waiting, in that order. */
  readonly admitted: Asker[] = [];
  #number = 0;

  constructor(readonly permits: number) {}

  ask(owner: Owner): void {
    const controller = new AbortController();
    const number = this.#number++;
    if (this.queue.running < this.permits) {
      this.queue.take(owner);
      this.inside.push({ owner, number, controller, ended: Promise.resolve() });
      return;
    }
    const budget = new WaitBudget(60_000, nowMs);
    const waited = this.queue.wait(owner, 'permit', budget, controller.signal);
    const asker: Asker = { owner, number, controller, ended: waited.catch(() => undefined) };
    this.outside.push(asker);
    void waited.then(
      () => {
        this.outside.splice(this.outside.indexOf(asker), 1);
        this.inside.push(asker);
        this.admitted.push(asker);
      },
      () => this.outside.splice(this.outside.indexOf(asker), 1),
    );
  }

  async leave(at: number): Promise<void> {
    const [asker] = this.inside.splice(at % Math.max(1, this.inside.length), 1);
    if (asker === undefined) return;
    this.queue.release(asker.owner);
    this.queue.admitNext();
    await settled();
  }

  async abort(at: number): Promise<void> {
    const asker = this.outside[at % Math.max(1, this.outside.length)];
    asker?.controller.abort(new Error('gone'));
    await settled();
  }

  async finish(): Promise<void> {
    while (this.inside.length > 0) await this.leave(0);
  }
}

/** Lets pending promises settle. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const owners = [
  ['a', '1'],
  ['a', '2'],
  ['b', '1'],
  ['c', '1'],
] as const;
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const), at: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), at: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), at: fc.nat(9) }) },
);

async function play(
  trial: Trial,
  { kind, at }: { readonly kind: string; readonly at: number },
): Promise<void> {
  if (kind === 'ask') trial.ask(owners[at] ?? owners[0]);
  else if (kind === 'leave') await trial.leave(at);
  else await trial.abort(at);
}

test.serial(
  'no permit is free while somebody waits, and no more are inside than there are permits',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, permits) => {
          const trial = new Trial(permits);
          for (const one of steps) {
            await play(trial, one);
            const { running, waiting } = trial.queue;
            if (running > permits || (waiting > 0 && running < permits)) return false;
            if (running !== trial.inside.length || waiting !== trial.outside.length) return false;
          }
          await trial.finish();
          return trial.queue.running === 0 && trial.queue.waiting === 0;
        },
      ),
      { seed, numRuns: 60 },
    );
    t.pass();
  },
);

test.serial(
  'everybody who stays gets a turn, and those of one owner in the order in which they came',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 60 }), async (asked) => {
        const trial = new Trial(2);
        for (const at of asked) trial.ask(owners[at] ?? owners[0]);
        await trial.finish();
        if (trial.outside.length > 0) return false;
        return owners.every((owner) => {
          const numbers = trial.admitted.filter((asker) => asker.owner === owner).map(({ number }) => number);
          return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
        });
      }),
      { seed, numRuns: 60 },
    );
    t.pass();
  },
);

test.serial('however many of one tenant wait, the next permit is another tenant’s', async (t) => {
  const trial = new Trial(3);
  for (let client = 0; client < 200; client += 1) trial.ask(['flood', String(client)]);
  trial.ask(['calm', '1']);
  await trial.leave(0);
  t.deepEqual(
    trial.admitted.map(({ owner }) => owner[0]),
    ['calm'],
  );
  await trial.finish();
});

test.serial('of the clients of one tenant the one that holds fewest is next', async (t) => {
  const trial = new Trial(2);
  for (let index = 0; index < 10; index += 1) trial.ask(['all', 'flood']);
  trial.ask(['all', 'calm']);
  await trial.leave(0);
  t.deepEqual(
    trial.admitted.map(({ owner }) => owner[1]),
    ['calm'],
  );
  await trial.finish();
});

test.serial('a tenant with many clients has no more than one with a single client', async (t) => {
  const trial = new Trial(4);
  for (let index = 0; index < 40; index += 1) {
    trial.ask(['many', String(index)]);
    trial.ask(['single', '1']);
  }
  for (let index = 0; index < 20; index += 1) await trial.leave(0);
  const inside = trial.inside.filter(({ owner }) => owner[0] === 'single').length;
  t.is(inside, 2);
  await trial.finish();
});

test.serial('a share is an equal part among tenants, then among the clients of one', (t) => {
  const queue = makeQueue();
  t.true(queue.isBelowShare(['a', '1'], 4));
  for (let index = 0; index < 4; index += 1) queue.take(['a', '1']);
  t.false(queue.isBelowShare(['a', '1'], 4));
  t.true(queue.isBelowShare(['a', '2'], 4));
  t.true(queue.isBelowShare(['b', '1'], 4));
  queue.take(['b', '1']);
  queue.take(['b', '1']);
  t.false(queue.isBelowShare(['b', '1'], 4));
  // A third of two permits rounds down to none, but an owner without a permit may always have one.
  t.true(queue.isBelowShare(['c', '1'], 2));
  queue.take(['c', '1']);
  t.false(queue.isBelowShare(['c', '2'], 2));
});

test.serial('who is one too many, or has waited already, is told at once', async (t) => {
  const queue = makeQueue(1);
  queue.take(['a']);
  const { signal } = new AbortController();
  const budget = new WaitBudget(1, nowMs);
  const first = queue.wait(['a'], 'permit', budget, signal);
  await t.throwsAsync(queue.wait(['b'], 'permit', new WaitBudget(1, nowMs), signal), { message: 'full' });
  await t.throwsAsync(first, { message: 'late' });
  await t.throwsAsync(queue.wait(['a'], 'permit', budget, signal), { message: 'late' });
  t.is(queue.waiting, 0);
});

test.serial('who has gone before it asked does not wait', async (t) => {
  const queue = makeQueue();
  await t.throwsAsync(
    queue.wait(['a'], 'permit', new WaitBudget(60_000, nowMs), AbortSignal.abort(new Error('gone'))),
    { message: 'gone' },
  );
  t.is(queue.waiting, 0);
});

test.serial(
  'a late loop lowers the limit below what runs, and an idle one raises it up to the cap again',
  (t) => {
    const limit = new AdaptiveLimit({ floor: 4, ceiling: 100, targetMs: 20 });
    t.is(limit.current, 100);
    limit.observe(19, 50, false);
    t.is(limit.current, 100);
    limit.observe(30, 50, false);
    t.is(limit.current, 40);
    for (let times = 0; times < 50; times += 1) limit.observe(30, limit.current, true);
    t.is(limit.current, 4);
    for (let times = 0; times < 22; times += 1) limit.observe(5, 4, true);
    t.is(limit.current, 4);
    limit.observe(5, 4, true);
    t.is(limit.current, 5);
    for (let times = 0; times < 50; times += 1) limit.observe(5, 4, false);
    t.is(limit.current, 100);
  },
);
