import test from 'ava';
import { readCases } from '../conformance/cases.js';
import { readExceptions } from '../conformance/exceptions.js';
import { remembering } from '../conformance/remembering.js';
import type { Outcome } from '../conformance/replay.js';
import { openStore, type Store } from '../conformance/target.js';
import { oneOf, spreadSample } from '../setup/runs.js';
import { doorsCorpus, replayIn } from './corpus.js';
import { defaultMode, otherModes, sampleOf } from './modes.js';

/** The sample divisor for the modes other than the default one; `npm run doors -- --all` sends all requests in all modes. */
const share = oneOf(128, 64);
/** The requests sent in the default mode. */
const asked = spreadSample(readCases('doors'), 17);

const exceptions = readExceptions('test/doors/exceptions.jsonl');
let store: Store;
let outcomes: readonly Outcome[] = [];

test.before('the rows of all doors are in the store', async (t) => {
  t.timeout(900_000);
  const opened = await openStore(process.env['BACKEND_URL'], true, doorsCorpus);
  // In a small sample most requests are unique, and caching them would cost more than the few repeats save.
  store = share < 32 ? await remembering(opened) : opened;
});

test.after.always(async () => {
  await store.close();
});

test.serial('requests about logs of all doors are answered as the recorded Loki did', async (t) => {
  t.timeout(900_000);
  outcomes = await replayIn(defaultMode, store, asked);
  t.deepEqual(differences(outcomes), []);
  t.is(readCases('doors').length, 2065);
  t.is(outcomes.length, asked.length);
});

test.serial('an exception of the doors stands only where the answers really differ', (t) => {
  const excepted = outcomes.filter(({ request }) => exceptions.has(request.id));
  const known = asked.filter(({ request }) => exceptions.has(request.id));
  t.is(excepted.length, known.length);
  t.deepEqual(
    excepted.filter(({ difference }) => difference === undefined).map(({ request }) => request.id),
    [],
  );
});

for (const mode of otherModes)
  test.serial(`requests about logs of all doors are answered as recorded: ${mode.name}`, async (t) => {
    t.timeout(900_000);
    const sample = sampleOf(readCases('doors'), mode, share, process.env['TEST_SEED']);
    t.true(sample.length > 1_200 / share);
    t.deepEqual(differences(await replayIn(mode, store, sample)), []);
  });

function differences(all: readonly Outcome[]): readonly string[] {
  return all.flatMap(({ request, difference }) =>
    difference === undefined || exceptions.has(request.id) ? [] : [`${request.id}: ${difference}`],
  );
}
