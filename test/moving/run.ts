/**
 * `npm run moving [-- --minutes=10]`: lines arrive, some of them late, while dashboards refresh on a proxy with every cache and on one
 * without caches. Prints the age of answers, and exits with 1 if one was wrong or older than docs/caching.md allows. `BACKEND_URL` names a
 * VictoriaLogs to use instead of the embedded backend.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import type { RunningProxy } from '../../core/program/start-proxy.js';
import { openProxy } from '../conformance/target.js';
import { Ledger, levels, push, type Push } from './ledger.js';
import { panels, type Panel } from './panels.js';
import { verdictOf, type Age, type Seen } from './verdict.js';

const { minutes, refresh, perSecond, account } = await yargs(hideBin(process.argv))
  .options({
    minutes: { type: 'number', default: 1, describe: 'how long lines arrive' },
    refresh: { type: 'number', default: 5, describe: 'seconds between two refreshes' },
    perSecond: { type: 'number', default: 20, describe: 'lines that arrive in a second' },
    account: { type: 'number', default: 611, describe: 'AccountID in the backend, which must be empty' },
  })
  .strict()
  .parseAsync();

const minute = 60_000;
const hour = 60 * minute;
const limit = 1000;
/** For a range that ends now: `-recent-tail-refresh-max-staleness`, plus the time until a line is visible in the backend. */
const recentBoundMs = 2_000 + 3_000;
/** For a line that arrives late in a sealed window: `-query-range-history-revalidate`. */
const lateBoundMs = minute + recentBoundMs;
/** The same for whole cached answers about the past. */
const pastBoundMs = 5 * minute + lateBoundMs;
const freshnessMs = 10 * minute;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const backendUrl = process.env['BACKEND_URL'];
const backend =
  backendUrl === undefined ? await startDevBackend() : { url: backendUrl, close: () => Promise.resolve() };
const ledger = new Ledger();
const target: Push = { url: backend.url, account, ledger };
let lines = 0;

const line = (atMs: number): Parameters<typeof push>[1][number] => {
  lines += 1;
  return { id: lines, atMs: Math.floor(atMs), level: levels[lines % 7 === 0 ? 2 : lines % 3 === 0 ? 1 : 0] };
};

/** Pushes a day of lines that arrived in time. */
async function pushHistory(nowMs: number): Promise<void> {
  const every = 5_000;
  const all = Array.from(
    { length: (25 * hour) / every },
    (_none, index) => nowMs - 25 * hour + index * every,
  );
  for (let at = 0; at < all.length; at += 2_000) await push(target, all.slice(at, at + 2_000).map(line));
}

/** Timestamps of arriving lines: most are current, a tenth are up to two minutes late, and one in a hundred is an hour late. */
function arriving(nowMs: number): number {
  if (lines % 100 === 99) return nowMs - hour - (lines % 13) * 1_000;
  return lines % 10 === 9 ? nowMs - (lines % 120) * 1_000 : nowMs;
}

async function ask(proxy: RunningProxy, panel: Panel, nowMs: number): Promise<Seen> {
  const endMs = nowMs - panel.endsAgoMs;
  const startMs = endMs - panel.rangeMs;
  const params = new URLSearchParams({
    query: panel.query,
    start: `${startMs}000000`,
    end: `${endMs}000000`,
    step: `${panel.stepMs / 1000}`,
    limit: `${limit}`,
  });
  const askedMs = Date.now();
  const answer = await fetch(`${proxy.urls.main}/loki/api/v1/query_range?${params.toString()}`, {
    headers: { 'x-scope-orgid': 'm' },
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${panel.name}: ${answer.status} ${text}`);
  // The body has the shape of a Loki range query response.
  const { data } = JSON.parse(text) as { readonly data: { readonly result: Seen['result'] } };
  return { panel, startMs, endMs, askedMs, seenMs: Date.now(), result: data.result, limit };
}

function boundOf({ endsAgoMs }: Panel, { lateMs }: Age): number {
  if (endsAgoMs > 0) return pastBoundMs;
  return lateMs > freshnessMs - 2 * minute ? lateBoundMs : recentBoundMs;
}

interface Tally {
  answers: number;
  readonly wrong: string[];
  /** The age of the oldest line missing in an answer, in milliseconds; 0 if none is missing. */
  readonly worst: { readonly recent: number[]; readonly late: number[] };
}

function tally(into: Tally, seen: Seen): void {
  const { wrong, ages } = verdictOf(seen, ledger);
  into.answers += 1;
  into.wrong.push(...wrong.slice(0, 3));
  const tooOld = ages.find((age) => age.ms > boundOf(seen.panel, age));
  if (tooOld !== undefined)
    into.wrong.push(
      `${seen.panel.name}: lacks a line that came ${tooOld.ms} ms before, ${tooOld.lateMs} ms late`,
    );
  const isLate = ({ lateMs }: Age): boolean => lateMs > 5 * minute;
  into.worst.recent.push(Math.max(0, ...ages.filter((age) => !isLate(age)).map(({ ms }) => ms)));
  into.worst.late.push(Math.max(0, ...ages.filter(isLate).map(({ ms }) => ms)));
}

/** The order of lines with the same timestamp is unspecified in the backend, so a limit that falls among them selects different lines. */
function comparable({ panel, result }: Seen): string {
  if (panel.kind !== 'logs') return JSON.stringify(result);
  const entries = result.flatMap(({ values }) => values.map(([ns, text]) => `${String(ns)} ${text}`)).sort();
  const edge = entries.length < limit ? undefined : entries[0]?.split(' ')[0];
  return JSON.stringify(entries.filter((entry) => edge === undefined || !entry.startsWith(`${edge} `)));
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return `p50 ${at(0.5)}  p90 ${at(0.9)}  p99 ${at(0.99)}  max ${at(1)} ms`;
}

const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-moving-'));
const map = ['tenant-map', JSON.stringify({ m: { account_id: String(account), project_id: '0' } })] as const;
const withCaches = await openProxy(
  backend,
  [],
  [map, ['disk-cache-path', join(folder, 'cache.db')], ['server.register-instrumentation', 'true']],
);
const without = await openProxy(
  backend,
  [],
  [map, ['cache-disabled', 'true'], ['compat-cache-enabled', 'false'], ['query-range-windowing', 'false']],
);
const tallies = {
  'with caches': { answers: 0, wrong: [], worst: { recent: [], late: [] } } as Tally,
  without: { answers: 0, wrong: [], worst: { recent: [], late: [] } } as Tally,
};
try {
  const startedMs = Date.now();
  await pushHistory(startedMs);
  await sleep(3_000);
  const untilMs = Date.now() + minutes * minute;
  const pushing = (async () => {
    while (Date.now() < untilMs) {
      const nowMs = Date.now();
      await push(
        target,
        Array.from({ length: Math.ceil(perSecond / 4) }, () => line(arriving(nowMs))),
      );
      await sleep(250);
    }
  })();
  const asked = panels.filter(({ kind }) => kind !== 'still');
  while (Date.now() < untilMs) {
    const nowMs = Date.now();
    for (const panel of asked) {
      tally(tallies['with caches'], await ask(withCaches, panel, nowMs));
      tally(tallies.without, await ask(without, panel, nowMs));
    }
    await sleep(Math.max(0, nowMs + refresh * 1_000 - Date.now()));
  }
  await pushing;
  print(`${lines} lines, ${minutes} minutes`);
  for (const [name, { answers, worst }] of Object.entries(tallies)) {
    print(`${name}: ${answers} answers`);
    print(`  age of what they lack, lines that came within five minutes: ${spread(worst.recent)}`);
    print(`  lines that came an hour late:                               ${spread(worst.late)}`);
  }
  // When no more lines arrive, all answers become equal: those about the present after the bound for late lines, those about the past
  // later.
  await sleep(lateBoundMs);
  const nowMs = Date.now();
  let unequal = 0;
  for (const panel of panels.filter(({ endsAgoMs }) => endsAgoMs === 0)) {
    const [own, wanted] = [await ask(withCaches, panel, nowMs), await ask(without, panel, nowMs)];
    if (comparable(own) !== comparable(wanted)) {
      unequal += 1;
      print(`${panel.name}: not what the proxy without caches answers`);
    }
  }
  print(`at rest: ${unequal} of ${panels.filter(({ endsAgoMs }) => endsAgoMs === 0).length} answers differ`);
  const metrics = await (await fetch(`${withCaches.urls.main}/metrics`)).text();
  for (const name of [
    'window_cache_hit',
    'window_cache_miss',
    'memory_cache_hits',
    'disk_cache_hits',
    'compat_cache_hits',
  ])
    print(new RegExp(`^ref_proxy_${name}_total .*$`, 'm').exec(metrics)?.[0] ?? name);
  const wrong = Object.entries(tallies).flatMap(([name, { wrong: found }]) =>
    found.map((text) => `${name}: ${text}`),
  );
  print(`${wrong.length} wrong answers`);
  for (const text of wrong.slice(0, 20)) print(`  ${text}`);
  process.exitCode = wrong.length + unequal === 0 ? 0 : 1;
} finally {
  await Promise.all([withCaches.close(), without.close()]);
  await backend.close();
  await rm(folder, { recursive: true, force: true });
}
