import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { Random } from '../watch/random.js';
import { CountingBackend } from './counting-backend.js';
import { Fleet, type Discovery } from './fleet.js';

/** The accounts of the backend, and the mark in all logs of an account. */
const marks: ReadonlyMap<string, string> = new Map([
  ['21', 'amber-21'],
  ['22', 'birch-22'],
  ['23', 'coral-23'],
]);
/** The accounts by tenant id, as clients send it. */
const tenants: ReadonlyMap<string, string> = new Map([
  ['a', '21'],
  ['b', '22'],
  ['c', '23'],
]);
const rowsEach = 300;
/** Long enough ago that answers get the longest TTL. */
const endMs = Date.UTC(2026, 0, 2);
const rangeMs = 3_600_000;

export interface LeakReport {
  readonly asked: number;
  readonly statuses: ReadonlyMap<number, number>;
  /** Responses that contain data their caller must not see, or lack data it must see. */
  readonly leaks: readonly string[];
  readonly backendCalls: number;
}

export interface LeakSettings {
  readonly requests: number;
  readonly seed: number;
  readonly replicas: number;
  readonly flags: readonly string[];
  readonly discovery: Discovery | undefined;
  readonly loops: number;
}

/**
 * Sends interleaved requests of three tenants, for one or several tenants, with and without forwarded credentials: with credentials, the
 * backend returns the logs of their owner, for any tenant. All logs contain the mark of their account.
 */
export async function leaks(settings: LeakSettings): Promise<LeakReport> {
  const external = process.env['BACKEND_URL'];
  const store =
    external === undefined ? await startDevBackend() : { url: external, close: () => Promise.resolve() };
  const backend = await CountingBackend.open(store.url, (authorization) => {
    const account = authorization.replace('Bearer of-', '');
    return marks.has(account) ? account : undefined;
  });
  try {
    for (const [account, mark] of marks) await load(store.url, account, mark);
    // Rows are visible in VictoriaLogs about a second after ingestion.
    if (external !== undefined) await sleep(3_000);
    const fleet = await Fleet.open(settings.replicas, flagsOf(backend, settings), settings.discovery);
    try {
      return await ask(fleet, backend, settings);
    } finally {
      await fleet.close();
    }
  } finally {
    backend.close();
    await store.close();
  }
}

function flagsOf(backend: CountingBackend, { flags }: LeakSettings): readonly string[] {
  const map = Object.fromEntries(
    [...tenants].map(([id, account]) => [id, { account_id: account, project_id: '0' }]),
  );
  return [
    `-backend=${backend.url}`,
    `-tenant-map=${JSON.stringify(map)}`,
    '-forward-authorization=true',
    '-rate-limit-per-second=0',
    ...flags,
  ];
}

async function ask(fleet: Fleet, backend: CountingBackend, settings: LeakSettings): Promise<LeakReport> {
  const statuses = new Map<number, number>();
  const found: string[] = [];
  let next = 0;
  backend.forget();
  const loop = async (): Promise<void> => {
    for (let step = (next += 1); step <= settings.requests; step = next += 1) {
      const random = Random.of(settings.seed, step);
      const ids = random.pick(['a', 'b', 'c', 'a|b', 'b|c', 'a|b|c']).split('|');
      const credentials = random.chance(0.5) ? random.pick([...marks.keys()]) : undefined;
      const replica = random.pick(fleet.replicas);
      const path = question(random);
      const { statusCode, body } = await request(`${replica.url}${path}`, {
        headers: {
          'x-scope-orgid': ids.join('|'),
          ...(credentials === undefined ? {} : { authorization: `Bearer of-${credentials}` }),
        },
      });
      const text = await body.text();
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
      const accounts = credentials === undefined ? ids.map((id) => tenants.get(id)) : [credentials];
      for (const [account, mark] of marks) {
        const isSeen = text.includes(mark);
        const mayBeSeen = accounts.includes(account);
        if (isSeen && !mayBeSeen)
          found.push(`${path} of ${ids.join('|')} ${credentials ?? ''}: shows ${mark}`);
        if (!isSeen && mayBeSeen && statusCode === 200)
          found.push(`${path} of ${ids.join('|')} ${credentials ?? ''}: lacks ${mark}`);
      }
    }
  };
  await Promise.all(Array.from({ length: settings.loops }, loop));
  return { asked: settings.requests, statuses, leaks: found, backendCalls: backend.total };
}

/** One of about a hundred requests whose responses all contain the mark. */
function question(random: Random): string {
  const minutes = random.pick([20, 30, 45, 60]);
  const range = `start=${(endMs - minutes * 60_000) * 1e6}&end=${endMs}000000`;
  const selector = random.pick(['{app=~".+"}', '{app="one"}', '{app=~"one|two"} |= "line"']);
  const query = encodeURIComponent(selector);
  const stream = encodeURIComponent(selector.split(' |', 1)[0] ?? selector);
  const count = encodeURIComponent(`sum by (mark) (count_over_time(${selector}[1m]))`);
  return random.pick([
    `/loki/api/v1/query_range?query=${query}&${range}&limit=50`,
    `/loki/api/v1/query_range?query=${count}&${range}&step=60`,
    `/loki/api/v1/query?query=${encodeURIComponent(`sum by (mark) (count_over_time(${selector}[20m]))`)}&time=${endMs}000000`,
    `/loki/api/v1/label/mark/values?${range}`,
    `/loki/api/v1/series?match[]=${stream}&${range}`,
    `/loki/api/v1/index/volume?query=${stream}&targetLabels=mark&${range}`,
    `/loki/api/v1/detected_field/secret/values?query=${stream}&${range}`,
  ]);
}

async function load(url: string, account: string, mark: string): Promise<void> {
  const lines = Array.from({ length: rowsEach }, (_, index) =>
    JSON.stringify({
      _time: `${endMs - rangeMs + Math.floor((index * rangeMs) / rowsEach)}000000`,
      _msg: `line ${index} secret=${mark}`,
      app: index % 2 === 0 ? 'one' : 'two',
      mark,
    }),
  );
  const { statusCode, body } = await request(`${url}/insert/jsonline?_stream_fields=app,mark`, {
    method: 'POST',
    headers: { 'content-type': 'application/stream+json', accountid: account, projectid: '0' },
    body: lines.join('\n'),
  });
  if (statusCode !== 200) throw new Error(`the backend took no rows: ${await body.text()}`);
  await body.dump();
}
