/** A sample of the damages of `npm run faults`, with the same code. */
import test from 'ava';
import { remembering } from '../conformance/remembering.js';
import { openStore, type Store } from '../conformance/target.js';
import { runs } from '../setup/samples.js';
import { wander } from './sweep.js';

let store: Store | undefined;

test.before(async () => {
  store = await remembering(await openStore(undefined, true));
});

test.after.always(async () => {
  await store?.close();
});

const seed = 1;

/** Prefixes of the names of ways. */
const ways: readonly (readonly [way: string, calls: number])[] = [
  ['a length', 4],
  ['no framing', 3],
  ['HTTP/1.0', 3],
  ['chunks', 4],
  ['closed', 8],
  ['reset', 8],
  ['gzip', 5],
  ['status', runs(8)],
  ['partial', runs(6)],
  ['the body', runs(6)],
  ['the row', runs(5)],
  ['a value of another type', runs(6)],
];

for (const [way, calls] of ways) {
  test.serial(`the undamaged answer or a clear error, and nothing kept of it: ${way}`, async (t) => {
    const told: string[] = [];
    const report = await wander(store?.url ?? '', { seed, calls }, { question: 'selector-0', way }, (text) =>
      told.push(text),
    );
    t.deepEqual(told, []);
    t.is(report.damaged, calls);
  });
}
