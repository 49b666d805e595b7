/** A short `npm run attack`, with the same code. */
import test, { type ExecutionContext } from 'ava';
import { openStore, type Store } from '../conformance/target.js';
import { withDisk } from '../core/cache/disk-engines.js';
import { runs } from '../setup/samples.js';
import { angles } from './angles.js';
import { differenceOf } from './same-answer.js';

/** The number of runs that take a few seconds. */
const short: Readonly<Record<string, number>> = {
  tenants: runs(30),
  lanes: runs(10),
  caches: runs(1),
  peers: runs(16),
  browser: 1,
};

let store: Store;
test.before(async () => {
  store = await openStore(process.env['BACKEND_URL'], true);
});
test.after.always(() => store.close());

for (const { name, attack } of angles) {
  const declare = name === 'caches' ? withDisk(test.serial) : test.serial;
  declare(`nothing is found by a short attack: ${name}`, async (t: ExecutionContext) => {
    t.timeout(240_000);
    const { tried, findings } = await attack({ seed: 1, runs: short[name] ?? 1, backendUrl: store.url });
    t.deepEqual(findings, []);
    t.true([...tried.values()].some((count) => count > 0));
  });
}

test.serial(
  'an answer is that of the control in any order of an instant where the backend keeps none',
  (t) => {
    const answered = (...values: readonly (readonly [string, string])[]) => ({
      status: 200,
      headers: {},
      contentType: 'application/json',
      text: JSON.stringify({ data: { resultType: 'streams', result: [{ stream: { app: 'a' }, values }] } }),
    });
    const control = answered(['2', 'a'], ['2', 'b'], ['1', 'c']);
    const turned = answered(['2', 'b'], ['2', 'a'], ['1', 'c']);
    const cut = answered(['2', 'a'], ['2', 'b'], ['1', 'd']);
    const wrong = answered(['2', 'a'], ['2', 'x'], ['1', 'c']);
    const limits = (limit: string) => ({ params: [['limit', limit]] as const });
    const isSame = (answer: typeof control, limit: string, isOrdered: boolean): boolean =>
      differenceOf(answer, control, limits(limit), isOrdered) === undefined;
    t.deepEqual(
      [
        isSame(turned, '9', false),
        isSame(turned, '9', true),
        isSame(wrong, '9', false),
        isSame(wrong, '3', false),
      ],
      [true, false, false, false],
    );
    // Only a limit that was reached can cut between lines with the same timestamp.
    t.deepEqual(
      [isSame(cut, '3', false), isSame(cut, '4', false), isSame(cut, '3', true)],
      [true, false, false],
    );
  },
);
