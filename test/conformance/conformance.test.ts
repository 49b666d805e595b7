import test from 'ava';
import { Pool } from 'undici';
import type { LoadedPlugin } from '../../core/kernel/pipeline/types.js';
import type { StagePlugin } from '../../core/kernel/plugin/contract.js';
import type { RunningProxy } from '../../core/program/start-proxy.js';
import redisTier0 from '../../examples/redis-tier0/index.js';
import { FakeStore } from '../plugins/peer-cache/fake-store.js';
import type { Answered } from '../../core/comparison/answers.js';
import { spread } from '../setup/samples.js';
import { readCases, type GoldenCase } from './cases.js';
import { comparableText } from './comparable.js';
import { compareAnswers } from './compare.js';
import { corpusOf, tenantMapOf } from './corpus.js';
import { readExceptions } from './exceptions.js';
import { optionalStages } from './families.js';
import { fillStore } from './load-data.js';
import { remembering } from './remembering.js';
import { send } from './replay.js';
import { openProxy, openStore, type Store } from './target.js';

const exceptions = readExceptions();

interface AnsweredCase extends GoldenCase {
  readonly answer: Answered;
}

/** The number of compared cases in each set, exceptions included. */
const sizes = { http: 692, otel: 229, reports: 806 };
const sets = ['http', 'otel', 'reports'] as const;
type ReplayedSet = (typeof sets)[number];

const corpora = { http: corpusOf('http'), otel: corpusOf('otel'), reports: corpusOf('reports') };

let store: Store;
const proxies = new Map<ReplayedSet, RunningProxy>();
/** The answers of the proxies with empty caches. */
const first: Record<ReplayedSet, readonly AnsweredCase[]> = { http: [], otel: [], reports: [] };

test.before('the corpora are in the store', async (t) => {
  t.timeout(900_000);
  const opened = await openStore(process.env['BACKEND_URL'], true);
  for (const corpus of Object.values(corpora)) await fillStore(opened.url, corpus);
  store = await remembering(opened);
  for (const set of sets) proxies.set(set, await openFor(set));
});

test.after.always(async () => {
  for (const proxy of proxies.values()) await proxy.close();
  await store.close();
});

for (const set of sets) {
  test.serial(`every request of the ${set} corpus is answered as the recorded Loki did`, async (t) => {
    t.timeout(900_000);
    first[set] = await answersOf(proxies.get(set), readCases(set));
    const counted = first[set].filter(({ request }) => request.exact !== false);
    t.deepEqual(counted.filter(({ request }) => !exceptions.has(request.id)).flatMap(differenceOf), []);
    t.is(counted.length, sizes[set]);
  });
}

test.serial('an exception stands only where the answers really differ', (t) => {
  const excepted = Object.values(first)
    .flat()
    .filter(({ request }) => exceptions.has(request.id));
  t.is(excepted.length, exceptions.size);
  t.is(excepted.flatMap(differenceOf).length, exceptions.size);
});

test.serial('answers that come from the caches are the same', async (t) => {
  t.timeout(900_000);
  for (const set of ['http', 'reports'] as const) {
    const some = spread(first[set], 4);
    t.deepEqual(changedIds(some, await answersOf(proxies.get(set), some)), []);
  }
});

test.serial('a cache of a site in the place of tier0 changes no answer, kept or not', async (t) => {
  t.timeout(900_000);
  const redis = await FakeStore.start(t);
  const own = { url: redis.url, prefix: 'test:', timeout: 60_000, maxAnswerBytes: 1_048_576 };
  const inPlace = (loaded: LoadedPlugin<StagePlugin>): LoadedPlugin<StagePlugin> =>
    loaded.id === 'tier0'
      ? {
          ...loaded,
          use: './redis-tier0',
          // The test does not declare types for a single plugin.
          plugin: redisTier0 as unknown as StagePlugin,
          options: { ...(loaded.options as object), ...own },
        }
      : loaded;
  const map = [
    ['tenant-map', tenantMapOf(corpora.http)],
    ['server.register-instrumentation', 'true'],
  ] as const;
  const proxy = await openProxy(store, [], map, undefined, (pipeline) => ({
    ...pipeline,
    stages: pipeline.stages.map(inPlace),
  }));
  try {
    const some = spread(first.http, 12, 1);
    for (const round of ['first', 'second'])
      t.deepEqual(changedIds(some, await answersOf(proxy, some)), [], round);
    const metrics = await (await fetch(`${proxy.urls.main}/metrics`)).text();
    const hits = /^ref_proxy_redis_tier0_hits_total (\d+)$/m.exec(metrics)?.[1];
    t.true(Number(hits) > some.length / 3, `${hits} answers came from the store`);
  } finally {
    await proxy.close();
  }
});

test.serial('with -pushdown=off queries are answered as the recorded Loki did', async (t) => {
  t.timeout(900_000);
  const isRecorded = ({ request: { id, path, exact } }: GoldenCase): boolean =>
    /\/query(_range)?$/.test(path) && exact !== false && !exceptions.has(id);
  let [asked, compared] = [0, 0];
  for (const set of sets) {
    const proxyWithout = await openFor(
      set,
      [],
      [
        ['pushdown', 'off'],
        // Here all rows are counted in another thread, elsewhere on the event loop.
        ['row-threads-min-rows', '0'],
      ],
    );
    try {
      const some = spread(first[set], 8, 2);
      asked += some.length;
      const without = await answersOf(proxyWithout, some);
      const recorded = without.filter(isRecorded);
      compared += recorded.length;
      t.deepEqual(recorded.flatMap(differenceOf), []);
      // Answers that are compared loosely, or not at all, must not change.
      const changed = some.flatMap((before, index) => {
        const { request, answer: wanted } = before;
        const answer = without[index]?.answer;
        if (answer === undefined) throw new Error(`no answer for ${request.id}`);
        return isRecorded(before) || isSame(request, wanted, answer) ? [] : [request.id];
      });
      t.deepEqual(changed, []);
    } finally {
      await proxyWithout.close();
    }
  }
  t.true(compared > 0.75 * asked);
});

test.serial('taking optional stages out, all or one, leaves every answer the same', async (t) => {
  t.timeout(900_000);
  for (const set of ['http', 'reports'] as const) {
    const all = spread(first[set], 8, 3).filter(({ request }) => !guardRefusals.has(request.id));
    t.deepEqual(await changedWithout(set, optionalStages, all), [], 'without any of them');
  }
  for (const [turn, stage] of optionalStages.entries()) {
    const some = spread(first.http, 48, turn).filter(({ request }) => !guardRefusals.has(request.id));
    t.deepEqual(await changedWithout('http', [stage], some), [], `without ${stage}`);
  }
});

function openFor(
  set: ReplayedSet,
  without: readonly string[] = [],
  flags: readonly Flag[] = [],
): Promise<RunningProxy> {
  return openProxy(store, without, [['tenant-map', tenantMapOf(corpora[set])], ...flags]);
}

type Flag = readonly [flag: string, value: string];

/** Requests that the guard rejects; without the guard, they are answered. */
const guardRefusals: ReadonlySet<string> = new Set(['error-param-008', 'b062-15']);

async function changedWithout(
  set: ReplayedSet,
  stages: readonly string[],
  wanted: readonly AnsweredCase[],
): Promise<readonly string[]> {
  const bare = await openFor(set, stages);
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

/** Sums of fractions may differ in the last digit, because the order of rows varies. */
function isSame(request: GoldenCase['request'], one: Answered, other: Answered): boolean {
  return comparableText(one) === comparableText(other) || compareAnswers(request, one, other) === undefined;
}

function differenceOf({ request, golden, answer }: AnsweredCase): readonly string[] {
  const difference = compareAnswers(request, golden, answer);
  return difference === undefined ? [] : [`${request.id}: ${difference}`];
}

async function answersOf(
  proxy: RunningProxy | undefined,
  cases: readonly GoldenCase[],
): Promise<readonly AnsweredCase[]> {
  if (proxy === undefined) throw new Error('no proxy was opened for the set');
  const { urls } = proxy;
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
