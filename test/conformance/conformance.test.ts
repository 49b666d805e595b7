import test from 'ava';
import { Pool } from 'undici';
import type { RunningProxy } from '../../core/program/start-proxy.js';
import { readCases, type Answered, type GoldenCase } from './cases.js';
import { comparableText } from './comparable.js';
import { compareAnswers } from './compare.js';
import { readExceptions } from './exceptions.js';
import { optionalStages } from './families.js';
import { remembering } from './remembering.js';
import { send } from './replay.js';
import { openProxy, openStore, type Store } from './target.js';

interface AnsweredCase extends GoldenCase {
  readonly answer: Answered;
}

let store: Store;
let proxy: RunningProxy;
/** What the proxy said when its caches were empty. */
const first: Record<'http' | 'otel', readonly AnsweredCase[]> = { http: [], otel: [] };

test.before('the corpus is in the store', async (t) => {
  t.timeout(300_000);
  store = await remembering(await openStore(process.env['BACKEND_URL'], true));
  proxy = await openProxy(store);
});

test.after.always(async () => {
  await proxy.close();
  await store.close();
});

for (const set of ['http', 'otel'] as const) {
  test.serial(`every request of the ${set} corpus is answered as the recorded Loki did`, async (t) => {
    t.timeout(300_000);
    const exceptions = readExceptions();
    first[set] = await answersOf(proxy, readCases(set));
    const counted = first[set].filter(
      ({ request }) => request.exact !== false && !exceptions.has(request.id),
    );
    t.deepEqual(counted.flatMap(differenceOf), []);
    t.is(counted.length, set === 'http' ? 692 - exceptions.size : 229);
  });
}

test.serial('an exception stands only where the answers really differ', (t) => {
  const exceptions = readExceptions();
  const excepted = first.http.filter(({ request }) => exceptions.has(request.id));
  t.is(excepted.length, exceptions.size);
  t.is(excepted.flatMap(differenceOf).length, exceptions.size);
});

test.serial('answers that come from the caches are the same', async (t) => {
  t.timeout(300_000);
  t.deepEqual(changedIds(first.http, await answersOf(proxy, first.http)), []);
});

test.serial('with -pushdown=off queries are answered as the recorded Loki did', async (t) => {
  t.timeout(300_000);
  const exceptions = readExceptions();
  const isRecorded = ({ request: { id, path, exact } }: GoldenCase): boolean =>
    /\/query(_range)?$/.test(path) && exact !== false && !exceptions.has(id);
  const withPushdown = [...first.http, ...first.otel];
  const proxyWithout = await openProxy(
    store,
    [],
    [
      ['pushdown', 'off'],
      // All rows are counted in another thread here, on the event loop elsewhere.
      ['row-threads-min-rows', '0'],
    ],
  );
  try {
    const without = await answersOf(proxyWithout, withPushdown);
    const recorded = without.filter(isRecorded);
    t.deepEqual(recorded.flatMap(differenceOf), []);
    t.true(recorded.length > 600);
    // What is compared loosely, or not at all, is to be as it was.
    const changed = withPushdown.flatMap((before, index) => {
      const { request, answer: wanted } = before;
      const answer = without[index]?.answer;
      if (answer === undefined) throw new Error(`no answer for ${request.id}`);
      return isRecorded(before) || isSame(request, wanted, answer) ? [] : [request.id];
    });
    t.deepEqual(changed, []);
  } finally {
    await proxyWithout.close();
  }
});

test.serial('taking optional stages out, all or one, leaves every answer the same', async (t) => {
  t.timeout(300_000);
  const all = first.http.filter(({ request }) => !guardRefusals.has(request.id));
  const some = all.filter((_case, index) => index % 8 === 0);
  t.deepEqual(await changedWithout(optionalStages, all), [], 'without any of them');
  for (const stage of optionalStages)
    t.deepEqual(await changedWithout([stage], some), [], `without ${stage}`);
});

/** Requests that the guard refuses: its protection is what leaves with it. */
const guardRefusals: ReadonlySet<string> = new Set(['error-param-008']);

async function changedWithout(
  stages: readonly string[],
  wanted: readonly AnsweredCase[],
): Promise<readonly string[]> {
  const bare = await openProxy(store, stages);
  try {
    return changedIds(wanted, await answersOf(bare, wanted));
  } finally {
    await bare.close();
  }
}

function changedIds(wanted: readonly AnsweredCase[], got: readonly AnsweredCase[]): readonly string[] {
  return wanted.flatMap(({ request, answer }, index) => {
    const other = got[index]?.answer;
    return other !== undefined && isSame(request, answer, other) ? [] : [request.id];
  });
}

/** Sums of fractions may differ in the last digit, because rows come in another order each time. */
function isSame(request: GoldenCase['request'], one: Answered, other: Answered): boolean {
  return comparableText(one) === comparableText(other) || compareAnswers(request, one, other) === undefined;
}

function differenceOf({ request, golden, answer }: AnsweredCase): readonly string[] {
  const difference = compareAnswers(request, golden, answer);
  return difference === undefined ? [] : [`${request.id}: ${difference}`];
}

async function answersOf(
  { urls }: RunningProxy,
  cases: readonly GoldenCase[],
): Promise<readonly AnsweredCase[]> {
  const pool = new Pool(urls.main);
  try {
    const answered: AnsweredCase[] = [];
    for (const { request, golden } of cases)
      answered.push({ request, golden, answer: await send(pool, request) });
    return answered;
  } finally {
    await pool.close();
  }
}
