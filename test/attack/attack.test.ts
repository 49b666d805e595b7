/** The beginning of `npm run attack`, in the same code. */
import test, { type ExecutionContext } from 'ava';
import { openStore, type Store } from '../conformance/target.js';
import { withDisk } from '../core/cache/disk-engines.js';
import { angles } from './angles.js';

/** As many as take a few seconds. */
const short: Readonly<Record<string, number>> = { tenants: 60, lanes: 30, caches: 2, peers: 48, browser: 1 };

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
