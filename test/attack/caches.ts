import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'node:http';
import { openProxy, openStore, type Store } from '../conformance/target.js';
import { send, type SentAnswer } from '../fuzz/client.js';
import { gauge } from '../fuzz/pair.js';
import type { FuzzRequest } from '../fuzz/requests.js';
import { faultOfError } from '../watch/error-texts.js';
import { Random } from '../watch/random.js';
import { ofRunning, ofStopped, type Damage } from './damage.js';
import { withMemory } from './lanes.js';
import { differenceOf } from './same-answer.js';
import { Tally, type AttackReport, type AttackSettings } from './tally.js';

const tenants = ['t1', 't2', 't3'];
const start = '1793494800000000000';
const end = '1793495400000000000';
const span = [
  ['start', start],
  ['end', end],
] as const;
const selectors = ['{service_name=~".+"}', '{env="production"}'];

/** The requests sent before and after the damage: for each tenant, and for every kind of answer that a cache stores. */
export const questions: readonly FuzzRequest[] = tenants.flatMap((tenant) => {
  const asked = (path: string, ...params: readonly (readonly [string, string])[]): FuzzRequest => ({
    method: 'GET',
    path: `/loki/api/v1/${path}`,
    params: [...params, ...span],
    headers: { 'X-Scope-OrgID': tenant },
    isForm: false,
  });
  return [
    asked('labels'),
    asked('label/service_name/values'),
    asked('label/level/values'),
    asked('detected_labels'),
    ...selectors.flatMap((query) => [
      asked('series', ['match[]', query]),
      asked('query_range', ['query', query], ['limit', '50']),
      asked('query_range', ['query', `${query} |= "error"`], ['limit', '20']),
      asked('query_range', ['query', `sum by (level) (count_over_time(${query}[5m]))`], ['step', '300']),
      asked('query', ['query', `sum by (service_name) (count_over_time(${query}[1h]))`], ['time', end]),
      asked('index/volume', ['query', query]),
      asked('index/stats', ['query', query]),
      asked('detected_fields', ['query', query]),
      asked('patterns', ['query', query]),
    ]),
  ];
});

/** Flags of a proxy that persists all caches in a folder. */
function keeping(folder: string): ReadonlyMap<string, string> {
  return new Map([
    ['disk-cache-path', join(folder, 'answers.db')],
    ['disk-cache-min-ttl', '1s'],
    ['disk-cache-flush-interval', '100ms'],
    ['patterns-persist-path', join(folder, 'patterns.json')],
    ['facts-persist-path', join(folder, 'facts.json')],
    ['label-values-indexed-cache', 'true'],
    ['label-values-index-persist-path', join(folder, 'label-values.json')],
    ['labels-cache-warm', 'false'],
    ['server.register-instrumentation', 'true'],
    // Keep little in memory, so that answers are read from disk.
    ['cache-max', '4'],
    ['compat-cache-enabled', 'false'],
  ]);
}

/** Metrics that show that the damaged files are used at all. */
const fromDisk = [
  ['answers from disk', 'ref_proxy_disk_cache_hits_total'],
  ['patterns restored', 'ref_proxy_patterns_restored_from_disk_total'],
] as const;

/**
 * Damages disk caches, snapshots and index files while a proxy is stopped and while it runs: every answer must equal that of a proxy
 * without
 * caches, or be an error that says what is wrong.
 */
export async function attackCaches({ seed, runs, backendUrl }: AttackSettings): Promise<AttackReport> {
  const tally = new Tally();
  const store = await openStore(backendUrl, true);
  const folder = mkdtempSync(join(tmpdir(), 'ref-proxy-attack-'));
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  try {
    const right = await withControl(store, (url) => askAll(url, agent));
    for (let round = 0; round < runs; round += 1) {
      const random = Random.of(seed, round);
      const happened: string[] = [];
      const judge = async (url: string): Promise<void> => {
        for (const [at, answer] of (await askAll(url, agent)).entries())
          judgeAnswer(tally, answer, right[at], `round ${round}, ${happened.join(', ')}`, questions[at]);
      };
      try {
        const proxy = await openProxy(store, [], keeping(folder));
        try {
          await judge(proxy.urls.main);
          await damage(ofRunning, folder, random, happened, tally, 'while it ran');
          await judge(proxy.urls.main);
          for (const [name, metric] of fromDisk) tally.add(name, await gauge(proxy.urls.main, metric));
        } finally {
          await proxy.close();
        }
      } catch (error) {
        tally.find(`round ${round}: the proxy did not run after ${happened.join(', ')}: ${String(error)}`);
      }
      for (let times = random.between(1, 3); times > 0; times -= 1)
        await damage(ofStopped, folder, random, happened, tally, 'while it was stopped');
    }
  } finally {
    agent.destroy();
    rmSync(folder, { recursive: true, force: true });
    await store.close();
  }
  return tally;
}

async function withControl<Result>(store: Store, use: (url: string) => Promise<Result>): Promise<Result> {
  const control = await openProxy(
    store,
    withMemory.filter((stage) => stage !== 'label-index'),
    [
      ['cache-disabled', 'true'],
      ['label-values-indexed-cache', 'true'],
      ['labels-cache-warm', 'false'],
    ],
  );
  try {
    return await use(control.urls.main);
  } finally {
    await control.close();
  }
}

function askAll(url: string, agent: Agent): Promise<readonly SentAnswer[]> {
  return Promise.all(questions.map((question) => send(url, question, agent)));
}

async function damage(
  ways: readonly Damage[],
  folder: string,
  random: Random,
  happened: string[],
  tally: Tally,
  when: string,
): Promise<void> {
  const told = await random.pick(ways)(folder, random);
  if (told === undefined) return;
  happened.push(`${told.replaceAll(`${folder}/`, '')} ${when}`);
  tally.add(`files damaged ${when}`);
}

/** Checks that an answer equals the control's, or is a documented error. */
export function judgeAnswer(
  tally: Tally,
  answer: SentAnswer,
  right: SentAnswer | undefined,
  where: string,
  question: FuzzRequest | undefined,
): void {
  if (right === undefined || question === undefined) throw new Error('nothing to compare with');
  tally.add('answers compared');
  const difference = differenceOf(answer, right, question);
  if (difference === undefined) return;
  if (answer.status >= 500 && faultOfError(answer) === undefined) tally.add('honest errors');
  else tally.find(`${where}: ${difference}\n  ${JSON.stringify(question)}`);
}
