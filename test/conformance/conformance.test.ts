import test from 'ava';
import { Pool } from 'undici';
import type { RunningProxy } from '../../core/kernel/start-proxy.js';
import { readCases, type Case, type CaseSet } from './cases.js';
import { comparableText } from './comparable.js';
import { readExceptions } from './exceptions.js';
import { optionalStages } from './families.js';
import { replay, send } from './replay.js';
import { openProxy, openStore, type Store } from './target.js';

let store: Store;

test.before('the corpus is in the store', async (t) => {
  t.timeout(300_000);
  store = await openStore(process.env['BACKEND_URL'], true);
});

test.after.always(async () => {
  await store.close();
});

for (const set of ['http', 'otel'] as const) {
  test.serial(`every request of the ${set} corpus is answered as the recorded Loki did`, async (t) => {
    t.timeout(300_000);
    const exceptions = readExceptions();
    const counted = countedCases(set).filter(({ request }) => !exceptions.has(request.id));
    const proxy = await openProxy(store);
    try {
      const outcomes = await replay(proxy.urls.main, counted);
      const failed = outcomes.filter(({ difference }) => difference !== undefined);
      t.deepEqual(
        failed.map(({ request, difference }) => `${request.id}: ${difference ?? ''}`),
        [],
      );
      t.is(counted.length, set === 'http' ? 692 - exceptions.size : 229);
    } finally {
      await proxy.close();
    }
  });
}

test.serial('an exception stands only where the answers really differ', async (t) => {
  const exceptions = readExceptions();
  const excepted = countedCases('http').filter(({ request }) => exceptions.has(request.id));
  const proxy = await openProxy(store);
  try {
    const outcomes = await replay(proxy.urls.main, excepted);
    t.deepEqual(
      outcomes.filter(({ difference }) => difference === undefined).map(({ request }) => request.id),
      [],
    );
  } finally {
    await proxy.close();
  }
});

test.serial('taking optional stages out, all or one, leaves every answer the same', async (t) => {
  t.timeout(300_000);
  const requests = readCases('http')
    .map(({ request }) => request)
    .filter(({ id }) => !guardRefusals.has(id));
  // Asked twice, so that the second answer comes from the caches.
  const wanted = await answersOf(await openProxy(store), requests, 2);
  const bare = await answersOf(await openProxy(store, optionalStages), requests, 1);
  t.deepEqual(changedIds(requests, wanted, bare), [], 'without any of them');
  const someOf = <Item>(items: readonly Item[]): readonly Item[] =>
    items.filter((_item, index) => index % 8 === 0);
  for (const stage of optionalStages) {
    const got = await answersOf(await openProxy(store, [stage]), someOf(requests), 1);
    t.deepEqual(changedIds(someOf(requests), someOf(wanted), got), [], `without ${stage}`);
  }
});

/** Requests that the guard refuses: its protection is what leaves with it. */
const guardRefusals: ReadonlySet<string> = new Set(['error-param-008']);

function changedIds(
  requests: readonly Case[],
  wanted: readonly string[],
  got: readonly string[],
): readonly string[] {
  return requests.filter((_request, index) => got[index] !== wanted[index]).map(({ id }) => id);
}

function countedCases(set: CaseSet): ReturnType<typeof readCases> {
  return readCases(set).filter(({ request }) => request.exact !== false);
}

/** Every answer in a form that compares; asked again when `times` says so, then from caches. Closes the proxy. */
async function answersOf(
  proxy: RunningProxy,
  requests: readonly Case[],
  times: number,
): Promise<readonly string[]> {
  const pool = new Pool(proxy.urls.main);
  try {
    let answers: string[] = [];
    for (let round = 0; round < times; round += 1) {
      answers = [];
      for (const request of requests) answers.push(comparableText(await send(pool, request)));
    }
    return answers;
  } finally {
    await pool.close();
    await proxy.close();
  }
}
