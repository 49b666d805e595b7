import test from 'ava';
import { Pool } from 'undici';
import type { RunningProxy } from '../../core/kernel/start-proxy.js';
import { readCases, type Answered, type Case } from './cases.js';
import { asObject, canonical, type Json } from './json.js';
import { send } from './replay.js';
import { openProxy, openStore } from './target.js';

const families: ReadonlySet<string> = new Set([
  'selector',
  'line-filter',
  'limit-direction',
  'labels',
  'label-values',
  'series',
  'time-bounds',
  'index-stats',
  'tenant',
]);
const optionalStages = ['tier0', 'window-split', 'cold-route', 'peer-cache', 'guard'];

test('taking any optional stage out leaves every answer the same', async (t) => {
  const requests = readCases('http')
    .map(({ request }) => request)
    .filter(({ family }) => families.has(family));
  const store = await openStore(process.env['BACKEND_URL'], true);
  try {
    const whole = await openProxy(store);
    const wanted = await answersOf(whole, requests, 2);
    for (const stage of optionalStages) {
      const reduced = await openProxy(store, [stage]);
      const got = await answersOf(reduced, requests, 1);
      const changed = requests.filter((_request, index) => got[index] !== wanted[index]).map(({ id }) => id);
      t.deepEqual(changed, [], `without ${stage}`);
    }
  } finally {
    await store.close();
  }
});

/** Every answer without its statistics; asked again when `times` says so, from caches then. Closes the proxy. */
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
      for (const request of requests) answers.push(shown(await send(pool, request)));
    }
    return answers;
  } finally {
    await pool.close();
    await proxy.close();
  }
}

function shown({ status, body }: Answered): string {
  if (typeof body === 'string') return `${status} ${body}`;
  const answer = asObject(body);
  const data = answer['data'];
  return `${status} ${canonical({ ...answer, data: Array.isArray(data) ? sortedItems(data) : comparableData(asObject(data)) })}`;
}

/** The order of streams and series is free, and that of the entries of one instant. */
function comparableData(data: Json): Json {
  const { result } = data;
  const parts = Object.entries(data).filter(([name]) => name !== 'stats' && name !== 'result');
  return {
    ...Object.fromEntries(parts),
    result: Array.isArray(result) ? sortedItems(result.map(withSortedValues)) : result,
  };
}

function withSortedValues(stream: unknown): Json {
  const { values, ...rest } = asObject(stream);
  return { ...rest, values: Array.isArray(values) ? sortedItems(values) : values };
}

function sortedItems(items: readonly unknown[]): readonly string[] {
  return items.map(canonical).sort();
}
