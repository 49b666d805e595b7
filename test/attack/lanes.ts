import { Agent } from 'node:http';
import { openProxy, openStore } from '../conformance/target.js';
import { send, type SentAnswer } from '../fuzz/client.js';
import { gauge } from '../fuzz/pair.js';
import { makeRequest, type FuzzRequest } from '../fuzz/requests.js';
import { Random } from '../watch/random.js';
import { differenceOf } from './same-answer.js';
import { Tally, type AttackReport, type AttackSettings } from './tally.js';

/** All stages that cache answers, or parts of them. */
export const withMemory = [
  'tier0',
  'kept-patterns',
  'label-index',
  'window-split',
  'peer-cache',
  'drilldown',
];
const noLane = new Map([
  ['http-fast-lane', 'false'],
  ['cache-disabled', 'true'],
  ['compat-cache-enabled', 'false'],
  ['labels-cache-warm', 'false'],
  ['server.register-instrumentation', 'true'],
]);
const withLane = new Map([['server.register-instrumentation', 'true']]);
const atOnce = 4;
const times = 4;

/**
 * Repeats the same requests from several tenants concurrently: a proxy with a fast lane and caches must return the answers of one without.
 */
export async function attackLanes({ seed, runs, backendUrl }: AttackSettings): Promise<AttackReport> {
  const tally = new Tally();
  const store = await openStore(backendUrl, true);
  try {
    const control = await openProxy(store, withMemory, noLane);
    const proxy = await openProxy(store, [], withLane);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 * atOnce });
    const ask = (url: string, made: FuzzRequest): Promise<SentAnswer> => send(url, made, agent);
    try {
      let next = 0;
      const loop = async (): Promise<void> => {
        for (let step = next++; step < runs; step = next++) {
          const random = Random.of(seed, step);
          for (const made of variants(random)) {
            const right = await ask(control.urls.main, made);
            tally.add('requests');
            const answers = [await ask(proxy.urls.main, made)];
            const more = Array.from({ length: times - 1 }, () => ask(proxy.urls.main, made));
            answers.push(...(await Promise.all(more)));
            for (const [turn, answer] of answers.entries()) {
              tally.add('answers compared');
              const difference = made.method === 'HEAD' ? undefined : differenceOf(answer, right, made);
              if (difference === undefined) continue;
              // A busy machine may reject one request and not the other.
              if ([answer, right].some(({ status }) => status === 503 || status === 504)) {
                tally.add('answers that came too late');
                continue;
              }
              // Results that depend on the current time, or on which of several tenants fails first, can change.
              if (await isOfChance(right, made, () => ask(control.urls.main, made))) {
                tally.add('answers that no proxy gives twice');
                break;
              }
              tally.find(`step ${step}, answer ${turn + 1}: ${difference}\n  ${shown(made)}`);
              break;
            }
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, loop));
      tally.add(
        'answered by the fast lane',
        await gauge(proxy.urls.main, 'ref_proxy_fast_lane_requests_total'),
      );
      const ofControl = await gauge(control.urls.main, 'ref_proxy_fast_lane_requests_total');
      if (ofControl > 0) tally.find(`the control answered ${ofControl} requests by its fast lane`);
    } finally {
      agent.destroy();
      await proxy.close();
      await control.close();
    }
  } finally {
    await store.close();
  }
  return tally;
}

const mostRepeats = 40;

/** True if the control itself returns different answers. */
async function isOfChance(
  right: SentAnswer,
  made: FuzzRequest,
  again: () => Promise<SentAnswer>,
): Promise<boolean> {
  for (let asked = 0; asked < mostRepeats; asked += atOnce) {
    const answers = await Promise.all(Array.from({ length: atOnce }, again));
    if (answers.some((each) => differenceOf(each, right, made) !== undefined)) return true;
  }
  return false;
}

const tenants = ['t1', 't2', 't3', 't1|t2', 't2|t1', 't1|nobody', 'nobody', 'T1', '11', ''];
const headers: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'Accept-Encoding': 'gzip' },
  { 'Accept-Encoding': 'identity;q=0, gzip' },
  { 'X-Loki-Response-Encoding-Flags': 'categorize-labels' },
  { 'X-Query-Tags': 'Source=grafana-lokiexplore-app' },
  { Authorization: 'Basic dXNlcjpwYXNzd29yZA==' },
  { 'Cache-Control': 'no-cache' },
  { Origin: 'http://elsewhere.example' },
];

/** A request, and variants of it from other clients whose answers must not be confused with its own. */
function variants(random: Random): readonly FuzzRequest[] {
  const made = timed(makeRequest(random));
  const others = random.several(
    2,
    (): FuzzRequest => ({
      ...made,
      headers: { ...made.headers, 'X-Scope-OrgID': random.pick(tenants), ...random.pick(headers) },
    }),
    1,
  );
  return [
    made,
    ...others,
    ...(random.chance(0.3) ? [{ ...made, isForm: !made.isForm, method: made.isForm ? 'GET' : 'POST' }] : []),
  ];
}

/** Sets all times explicitly, because the defaults depend on the current time. */
function timed(made: FuzzRequest): FuzzRequest {
  const has = new Set(made.params.map(([name]) => name));
  const told = [
    ['start', '1793494800000000000'],
    ['end', '1793498400000000000'],
    ['time', '1793498400000000000'],
  ] as const;
  return { ...made, params: [...made.params, ...told.filter(([name]) => !has.has(name))] };
}

function shown({ method, path, params, headers: sent, isForm }: FuzzRequest): string {
  return JSON.stringify({ method, path, params, headers: sent, isForm }).slice(0, 700);
}
