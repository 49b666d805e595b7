import test from 'ava';
import { Pool } from 'undici';
import { readCases, type Answered, type Case, type GoldenCase } from './cases.js';
import { comparableText } from './comparable.js';
import { compareAnswers } from './compare.js';
import { readExceptions } from './exceptions.js';
import { remembering } from './remembering.js';
import { replay, send } from './replay.js';
import { openProxy, openStore, type Store } from './target.js';

const off = [['pushdown', 'off']] as const;

let store: Store;

test.before('the corpus is in the store', async (t) => {
  t.timeout(300_000);
  store = await remembering(await openStore(process.env['BACKEND_URL'], true));
});

test.after.always(async () => {
  await store.close();
});

// conformance.test.ts asks the same with pushdown on.
test.serial('with -pushdown=off queries are answered as the recorded Loki did', async (t) => {
  t.timeout(300_000);
  const { recorded } = splitCases();
  const proxy = await openProxy(store, [], off);
  try {
    const outcomes = await replay(proxy.urls.main, recorded);
    const failed = outcomes.filter(({ difference }) => difference !== undefined);
    t.deepEqual(
      failed.map(({ request, difference }) => `${request.id}: ${difference ?? ''}`),
      [],
    );
    t.true(recorded.length > 600);
  } finally {
    await proxy.close();
  }
});

test.serial('with -pushdown=off every other answer stays the same', async (t) => {
  t.timeout(300_000);
  const requests = splitCases().others.map(({ request }) => request);
  const wanted = await answersOf(requests, []);
  const got = await answersOf(requests, off);
  const changed = requests.flatMap((request, index) => {
    const [a, b] = [wanted[index], got[index]];
    if (a === undefined || b === undefined) throw new Error(`no answer for ${request.id}`);
    // Sums of fractions may differ in the last digit, because rows come in another order each time.
    const isSame = comparableText(a) === comparableText(b) || compareAnswers(request, a, b) === undefined;
    return isSame ? [] : [request.id];
  });
  t.deepEqual(changed, []);
});

/** Queries are compared with their recording value by value; for what is compared loosely, or not at all, the answers are compared. */
function splitCases(): { readonly recorded: readonly GoldenCase[]; readonly others: readonly GoldenCase[] } {
  const cases = [...readCases('http'), ...readCases('otel')];
  const exceptions = readExceptions();
  const isRecorded = ({ request: { id, path, exact } }: GoldenCase): boolean =>
    /\/query(_range)?$/.test(path) && exact !== false && !exceptions.has(id);
  return { recorded: cases.filter(isRecorded), others: cases.filter((each) => !isRecorded(each)) };
}

async function answersOf(
  requests: readonly Case[],
  flags: Iterable<readonly [string, string]>,
): Promise<readonly Answered[]> {
  const proxy = await openProxy(store, [], flags);
  const pool = new Pool(proxy.urls.main);
  try {
    const answers: Answered[] = [];
    for (const request of requests) answers.push(await send(pool, request));
    return answers;
  } finally {
    await pool.close();
    await proxy.close();
  }
}
