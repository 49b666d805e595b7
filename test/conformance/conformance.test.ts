import test from 'ava';
import { Pool } from 'undici';
import type { RunningProxy } from '../../core/kernel/start-proxy.js';
import { readCases, type Case, type GoldenCase } from './cases.js';
import { comparableText } from './comparable.js';
import { optionalStages, requiredFamilies, requiredOtelFamilies } from './families.js';
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

test.serial('log queries and listings answer as the recorded Loki did', async (t) => {
  t.timeout(300_000);
  const counted = requiredCases();
  const proxy = await openProxy(store);
  try {
    const outcomes = await replay(proxy.urls.main, counted);
    const failed = outcomes.filter(({ difference }) => difference !== undefined);
    t.deepEqual(
      failed.map(({ request, difference }) => `${request.id}: ${difference ?? ''}`),
      [],
    );
    t.true(counted.length > 170);
  } finally {
    await proxy.close();
  }
});

test.serial('taking any optional stage out leaves every answer the same', async (t) => {
  t.timeout(300_000);
  const requests = readCases('http')
    .map(({ request }) => request)
    .filter(({ family }) => requiredFamilies.has(family) || family === 'tenant');
  const wanted = await answersOf(await openProxy(store), requests, 2);
  for (const stage of optionalStages) {
    const got = await answersOf(await openProxy(store, [stage]), requests, 1);
    const changed = requests.filter((_request, index) => got[index] !== wanted[index]).map(({ id }) => id);
    t.deepEqual(changed, [], `without ${stage}`);
  }
});

function requiredCases(): readonly GoldenCase[] {
  const http = readCases('http').filter(
    ({ request }) => requiredFamilies.get(request.family)?.has(request.id) === false,
  );
  const otel = readCases('otel').filter(
    ({ request }) => request.exact !== false && requiredOtelFamilies.has(request.family),
  );
  return [...http, ...otel];
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
