/**
 * `npm run soak [-- --minutes=30]`: sends random queries about a day of logs to a proxy with every cache, in a separate process. Prints its
 * memory and its longest turn each minute, and exits with 1 if its memory exceeded its bound or kept growing, or if something other than the
 * garbage collector blocked the event loop. `BACKEND_URL` names a VictoriaLogs to use instead of the embedded backend. The proxy runs with
 * the settings of docs/sizing.md (allocator, little memory); `--tuned=0` leaves the allocator and the garbage collector at their defaults.
 * `--stacks` prints the call stacks of turns that were too long.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { readArguments } from '../watch/arguments.js';
import { Random } from '../watch/random.js';
import { Watched } from '../watch/watched.js';
import { pushDay } from './logs.js';
import { questionOf } from './questions.js';

const mebibyte = 1024 ** 2;
/** glibc returns freed memory to the system instead of keeping it for later (docs/sizing.md#allocator). */
const thriftyAllocator = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
const options = readArguments(process.argv.slice(2), [
  'minutes',
  'seed',
  'rows',
  'account',
  'clients',
  'cache',
  'slack',
  'turn',
  'query-memory',
  'tuned',
  'stacks',
]);
const minutes = options.number('minutes', 1);
const account = options.number('account', 612);
const cacheMiB = options.number('cache', 256);
const boundMiB = cacheMiB + options.number('slack', 150);
const maxTurnMs = options.number('turn', 50);

const backendUrl = process.env['BACKEND_URL'];
const backend =
  backendUrl === undefined ? await startDevBackend() : { url: backendUrl, close: () => Promise.resolve() };
const startMs = Date.now();
await pushDay(backend.url, account, options.number('rows', 100_000), startMs);
await sleep(3_000);
const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-soak-'));
const isTuned = options.number('tuned', 1) !== 0;
const settings = {
  node: isTuned ? ['--max-semi-space-size=8'] : [],
  env: {
    ...(isTuned && thriftyAllocator),
    ...(options.flag('stacks') && { TURN_STACKS: String(maxTurnMs * 0.9) }),
  },
};
const serve = [
  'serve',
  '-listen=127.0.0.1:0',
  '-admin-listen=127.0.0.1:0',
  `-backend=${backend.url}`,
  `-tenant-map=${JSON.stringify({ soak: { account_id: String(account), project_id: '0' } })}`,
  `-cache-max-bytes=${cacheMiB * mebibyte}`,
  `-disk-cache-path=${join(folder, 'cache.db')}`,
  '-server.register-instrumentation=true',
  '-rate-limit-per-second=0',
  `-max-query-memory=${options.number('query-memory', 32) * mebibyte}`,
];
const program = await Watched.start(serve, settings);
const answers = new Map<number, number>();
let running = true;

async function client(seed: number): Promise<void> {
  const random = new Random(seed);
  while (running) {
    const { path, params } = questionOf(random, Date.now());
    const answer = await fetch(
      `${program.url}/loki/api/v1/${path}?${new URLSearchParams(params).toString()}`,
      { headers: { 'x-scope-orgid': 'soak' } },
    );
    await answer.arrayBuffer();
    answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
  }
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${program.url}/metrics`)).text();
  return Number(new RegExp(`^ref_proxy_${name} (.+)$`, 'm').exec(text)?.[1] ?? 0);
}

const offences: string[] = [];
const offend = (text: string): void => {
  offences.push(text);
  console.log(`  ${text}`);
};
const residents: number[] = [];
try {
  const seed = options.number('seed', 20_261_123);
  const clients = Array.from({ length: options.number('clients', 4) }, (_none, index) =>
    client(seed + index),
  );
  const untilMs = startMs + minutes * 60_000;
  await program.measure({ meter: 'start' });
  while (Date.now() < untilMs) {
    await sleep(Math.min(60_000, Math.max(1_000, untilMs - Date.now())));
    const { residentMiB, residentPeakMiB, turns, heldMiB } = await program.measure({ meter: 'read' });
    await program.measure({ meter: 'start' });
    const held = turns.filter(({ ownMs, gcMs = 0 }) => ownMs - gcMs > maxTurnMs);
    const longest = Math.max(0, ...turns.map(({ ownMs, gcMs = 0 }) => ownMs - gcMs));
    residents.push(residentPeakMiB);
    const kept = (await metric('memory_cache_bytes')) + (await metric('compat_cache_bytes'));
    console.log(
      `${((Date.now() - startMs) / 60_000).toFixed(1)} min: resident ${residentMiB.toFixed(0)} MiB, at most ${residentPeakMiB.toFixed(0)}, held ${heldMiB.toFixed(0)}, caches ${(kept / mebibyte).toFixed(0)}, disk ${((await metric('disk_cache_bytes')) / mebibyte).toFixed(0)}; longest turn ${longest.toFixed(0)} ms; answers ${[...answers].map(([status, count]) => `${status}: ${count}`).join(', ')}`,
    );
    if (residentPeakMiB > boundMiB) offend(`resident ${residentPeakMiB.toFixed(0)} MiB, over ${boundMiB}`);
    for (const { ownMs, gcMs = 0, frames = [] } of held)
      offend(
        `a turn of ${ownMs.toFixed(0)} ms, ${gcMs.toFixed(0)} of them collections ${frames.join(' < ')}`,
      );
  }
  running = false;
  await Promise.all(clients);
  for (const name of [
    'window_cache_hit_total',
    'memory_cache_hits_total',
    'disk_cache_hits_total',
    'compat_cache_hits_total',
  ])
    console.log(`${name} ${await metric(name)}`);
  const third = Math.floor(residents.length / 3);
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  if (third > 0 && mean(residents.slice(-third)) > 1.1 * mean(residents.slice(third, 2 * third)))
    offend('memory kept growing');
  if ([...answers.keys()].some((status) => status >= 500)) offend('answers of 500 and above');
  for (const text of program.complaints.slice(0, 5)) offend(`it complained: ${text}`);
} finally {
  running = false;
  await program.stop();
  await backend.close();
  await rm(folder, { recursive: true, force: true });
}
console.log(`${offences.length} offences`);
process.exitCode = offences.length === 0 ? 0 : 1;
