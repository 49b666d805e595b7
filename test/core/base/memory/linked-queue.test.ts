import test from 'ava';
import { LinkedQueue, type QueueEntry } from '../../../../core/base/admission/fair-queue.js';
import { Random } from '../../../watch/random.js';

test.serial('who comes and goes is there as in a Set, in the order of coming', (t) => {
  const random = new Random(20_261_124);
  const queue = new LinkedQueue<number>();
  const expected = new Set<number>();
  const known: QueueEntry<number>[] = [];
  for (let step = 0; step < 2_000; step += 1) {
    const gone = random.next() < 0.5 ? known[random.below(Math.max(1, known.length))] : undefined;
    if (gone === undefined) {
      known.push(queue.add(step));
      expected.add(step);
    } else {
      // Half of the time the entry has been removed before.
      queue.remove(gone);
      expected.delete(gone.value);
    }
    t.is(queue.size, expected.size);
    t.is(queue.first?.value, [...expected][0]);
    if (step % 50 === 0)
      t.deepEqual(
        [...queue].map(({ value }) => value),
        [...expected],
      );
  }
});
