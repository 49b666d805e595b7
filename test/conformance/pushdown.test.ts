import test from 'ava';
import { Pool } from 'undici';
import { readCases, type Answered, type Case, type GoldenCase } from './cases.js';
import { comparableText } from './comparable.js';
import { compareAnswers } from './compare.js';
import { replay, send } from './replay.js';
import { openProxy, openStore, type Store } from './target.js';

/** Families of metric queries: they pass whole, whoever does the counting. */
const metricFamilies: ReadonlySet<string> = new Set([
  'range-agg',
  'step',
  'offset',
  'unwrap',
  'vector-agg',
  'binary',
  'instant',
  'time-bounds',
  'error-query',
  'otel-group',
  'otel-instant',
  'otel-level',
  'otel-unwrap',
]);
const off = [['pushdown', 'off']] as const;

let store: Store;

test.before('the corpus is in the store', async (t) => {
  t.timeout(300_000);
  store = await openStore(process.env['BACKEND_URL'], true);
});

test.after.always(async () => {
  await store.close();
});

for (const [name, flags] of [
  ['on', []],
  ['off', off],
] as const) {
  test.serial(`metric queries answer as the recorded Loki did with -pushdown=${name}`, async (t) => {
    t.timeout(300_000);
    const counted = metricCases();
    const proxy = await openProxy(store, [], flags);
    try {
      const outcomes = await replay(proxy.urls.main, counted);
      const failed = outcomes.filter(({ difference }) => difference !== undefined);
      t.deepEqual(
        failed.map(({ request, difference }) => `${request.id}: ${difference ?? ''}`),
        [],
      );
      t.true(counted.length > 270);
    } finally {
      await proxy.close();
    }
  });
}

test.serial('with -pushdown=off every answer stays the same', async (t) => {
  t.timeout(300_000);
  const requests = [...readCases('http'), ...readCases('otel')].map(({ request }) => request);
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

function metricCases(): readonly GoldenCase[] {
  return [...readCases('http'), ...readCases('otel')].filter(
    ({ request }) => metricFamilies.has(request.family) && request.exact !== false,
  );
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
