import test from 'ava';
import { LatePurges } from '../../../plugins/delete/late-purges.js';

/** Purges that are counted, and a promise for the nth of them. */
function counted(delays: readonly number[]): {
  readonly purges: LatePurges;
  readonly count: () => number;
  readonly until: (count: number) => Promise<void>;
} {
  let count = 0;
  let waiting: { readonly count: number; readonly reached: () => void } | undefined;
  const purge = (): Promise<void> => {
    count += 1;
    if (waiting !== undefined && count >= waiting.count) waiting.reached();
    return Promise.resolve();
  };
  return {
    purges: new LatePurges(purge, delays),
    count: () => count,
    until: (wanted) =>
      new Promise((reached) => {
        waiting = { count: wanted, reached };
      }),
  };
}

test('caches are emptied at once, and again after each delay', async (t) => {
  // Timers of purges keep no process alive, so the test does.
  const alive = setInterval(() => undefined, 1000);
  const { purges, count, until } = counted([1, 2]);
  const all = until(3);
  await purges.begin();
  t.is(count(), 1);
  await all;
  t.is(count(), 3);
  clearInterval(alive);
});

test('nothing is emptied any more after a stop', async (t) => {
  const { purges, count } = counted([0, 0]);
  await purges.begin();
  purges.stop();
  // Timers that are due run before one that is set now.
  await new Promise((passed) => setTimeout(passed, 2));
  t.is(count(), 1);
});
