/**
 * Twenty million rows over one day; every query selects half of them. Measures each query the first time (in a process that has served
 * nothing yet), over another range of the same selection, and with a new filter, relative to the nearest VictoriaLogs query. Needs
 * BACKEND_URL; fills a separate account once for each number of rows (BENCH_ROWS).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../core/kernel/options/index.js';
import { Watched } from '../watch/watched.js';
import {
  ask,
  movedSteps,
  nanoseconds,
  nonce,
  quantile,
  serveArguments,
  tenantHeader,
  type Account,
} from './asking.js';
import { fillAccount } from './fill.js';
import { startProgram } from './program.js';
import { note } from './report.js';
import { scaleBatches, scaleEndMs, scaleStartMs } from './scale-logs.js';
import { scaleShapes, type ScaleShape } from './scale-table.js';

const rows = Number(process.env['BENCH_ROWS'] ?? 20_000_000);
const account: Account = { AccountID: '34', ProjectID: String(rows) };
const processes = Number(process.env['BENCH_FIRST'] ?? 3);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const only = process.env['BENCH_ONLY'] ?? '';
/** As long as a user looks at a first answer; the proxy finishes its deferred background work meanwhile. */
const lookMs = 5_000;
const linesAsked = 1_000;
/** Longer than the time span of the newest lines. */
const minutesOfLines = 17;
const mebibyte = 1024 ** 2;
const aims = { residentMiB: 150, turnMs: 20 };

/** The new part of a query. */
type News = 'first' | 'range' | 'filter';

interface Taken {
  readonly ours: number[];
  readonly theirs: number[];
}

const exactFlag = 'first-answers';
const hasExact = readFileSync(join(packageRoot(), 'docs/flags.md'), 'utf8').includes(`\`-${exactFlag}\``);

/** Prints a table of ratios with their targets, and the proxy's peak usage. */
export async function run(): Promise<void> {
  const backendUrl = process.env['BACKEND_URL'];
  if (backendUrl === undefined) {
    console.log('left out: it needs a VictoriaLogs, BACKEND_URL');
    return;
  }
  await fillAccount(backendUrl, account, { lines: rows, batches: () => scaleBatches(rows) });
  console.log(
    `${rows.toLocaleString('en')} rows over 24 h in 200 streams, half of them selected; p50 of VictoriaLogs in ms, the proxy's as a ratio to it, and the aim; ${processes} processes, each asked once for the first time and ${rounds} times for the others`,
  );
  console.log(
    row('shape', ...['first time', 'another range', 'new filter'].flatMap((name) => ['VL ms', name, 'aim'])),
  );
  const shapes = scaleShapes.filter(({ name }) => name.includes(only));
  for (const compare of [compareShape, compareExact])
    for (const shape of shapes)
      await compare(backendUrl, shape).catch((error: unknown) =>
        console.log(`${shape.name}: ${String(error)}`),
      );
  await weigh(backendUrl, shapes);
}

async function compareShape(backendUrl: string, shape: ScaleShape): Promise<void> {
  const taken: Readonly<Record<News, Taken>> = { first: nothing(), range: nothing(), filter: nothing() };
  for (let number = 0; number < processes; number += 1) {
    const proxy = await startProgram(serveArguments(backendUrl, { bench: account }));
    try {
      await askBoth(proxy.url, backendUrl, shape, taken.first, 'first', 0);
      await pause(lookMs);
      for (const news of ['range', 'filter'] as const)
        for (let round = 1; round <= rounds; round += 1)
          await askBoth(proxy.url, backendUrl, shape, taken[news], news, round);
    } finally {
      await proxy.stop();
    }
  }
  console.log(
    row(
      shape.name,
      ...(['first', 'range', 'filter'] as const).flatMap((news) =>
        cells(`${shape.name}, ${news}`, taken[news], shape.aims[news]),
      ),
    ),
  );
}

/** The first time with exact answers, for programs that distinguish first and later answers. */
async function compareExact(backendUrl: string, shape: ScaleShape): Promise<void> {
  const { exact } = shape.aims;
  if (exact === undefined) return;
  const taken = nothing();
  for (let number = 0; number < processes; number += 1) {
    const args = [
      ...serveArguments(backendUrl, { bench: account }),
      ...(hasExact ? [`-${exactFlag}=exact`] : []),
    ];
    const proxy = await startProgram(args);
    try {
      await askBoth(proxy.url, backendUrl, shape, taken, 'first', 0);
    } finally {
      await proxy.stop();
    }
  }
  const how = hasExact ? `-${exactFlag}=exact` : `there is no -${exactFlag}: always exact`;
  console.log(`${row(`${shape.name}, exact`, ...cells(`${shape.name}, exact`, taken, exact))}  ${how}`);
}

/** Sends all queries to one process with a meter in it; runs after the timed rounds, because the meter costs time. */
async function weigh(backendUrl: string, shapes: readonly ScaleShape[]): Promise<void> {
  const proxy = await Watched.start([
    ...serveArguments(backendUrl, { bench: account }),
    '-server.register-instrumentation=true',
    // Prefetched listings would take each other's answers from caches.
    '-labels-cache-warm=false',
  ]);
  try {
    await proxy.measure({ meter: 'start' });
    for (const shape of shapes)
      for (const [round, news] of (['first', 'range', 'range', 'filter', 'filter'] as const).entries())
        // The error of a shape is reported already; its memory still counts.
        await askProxy(proxy.url, shape, news, round).catch(() => undefined);
    const { residentPeakMiB, turns, longestMs } = await proxy.measure({ meter: 'read' });
    const metrics = await (await fetch(`${proxy.url}/metrics`)).text();
    const sumOf = (...names: readonly string[]): number =>
      names
        .map((name) => Number(new RegExp(`^ref_proxy_${name} (.+)$`, 'm').exec(metrics)?.[1] ?? 0))
        .reduce((sum, value) => sum + value, 0);
    const keptMiB = sumOf('memory_cache_bytes', 'compat_cache_bytes') / mebibyte;
    const overMiB = residentPeakMiB - keptMiB;
    const collected = Math.max(0, ...turns.map(({ ownMs, gcMs = 0 }) => ownMs - gcMs));
    console.log(
      `memory: peak resident ${residentPeakMiB.toFixed(0)} MiB, caches ${keptMiB.toFixed(0)} MiB, the rest ${overMiB.toFixed(0)} MiB (aim ${aims.residentMiB})`,
    );
    console.log(
      `longest turn of the event loop: ${longestMs.toFixed(0)} ms of processor (aim ${aims.turnMs}); ${turns.length} of 20 ms and more, the longest of them without collections of garbage ${collected.toFixed(0)} ms`,
    );
    console.log(
      `answers and windows from caches, of which there should be none: ${sumOf('memory_cache_hits_total', 'compat_cache_hits_total', 'window_cache_hit_total')}`,
    );
    note('scale', 'peak resident memory without caches, of the aim', overMiB / aims.residentMiB);
    note('scale', 'longest turn, of the aim', longestMs / aims.turnMs);
  } catch (error) {
    console.log(`memory and turns were not measured: ${String(error)}`);
  } finally {
    await proxy.stop();
  }
}

async function askBoth(
  url: string,
  backendUrl: string,
  shape: ScaleShape,
  { ours, theirs }: Taken,
  news: News,
  round: number,
): Promise<void> {
  const path = shape.widthSeconds === undefined ? '/select/logsql/query' : '/select/logsql/stats_query_range';
  const filter = news === 'filter' ? `!_msg:*"${nonce()}"*` : '';
  const form = formOf(shape, shape.direct, filter, news, round);
  theirs.push(await ask({ url: backendUrl, headers: account }, path, form));
  ours.push(await askProxy(url, shape, news, round));
}

function askProxy(url: string, shape: ScaleShape, news: News, round: number): Promise<number> {
  const filter = news === 'filter' ? `!= "${nonce()}"` : '';
  const form = formOf(shape, shape.query, filter, news, round);
  return ask({ url, headers: tenantHeader }, '/loki/api/v1/query_range', form);
}

/** Another range has no step with a cached value, and no line from the newest ones before. */
function formOf(
  { widthSeconds }: ScaleShape,
  query: string,
  filter: string,
  news: News,
  round: number,
): URLSearchParams {
  const moved = news === 'range' ? round : 0;
  const filtered = query.replace('{filter}', filter);
  if (widthSeconds === undefined) {
    const end = scaleEndMs - moved * minutesOfLines * 60_000;
    const range = { start: nanoseconds(scaleStartMs), end: nanoseconds(end) };
    return new URLSearchParams({ query: filtered, limit: String(linesAsked), ...range });
  }
  const { width, range } = movedSteps(scaleStartMs, scaleEndMs, widthSeconds, moved);
  return new URLSearchParams({ query: filtered.replace('{width}', width), ...range });
}

function nothing(): Taken {
  return { ours: [], theirs: [] };
}

function cells(name: string, { ours, theirs }: Taken, aim: number): readonly string[] {
  const [mine, other] = [quantile(ours, 0.5), quantile(theirs, 0.5)];
  note('scale', name, mine / other);
  return [other.toFixed(0), (mine / other).toFixed(2), String(aim)];
}

function row(name: string, ...columns: readonly string[]): string {
  return `${name.padEnd(34)}${columns.map((column, index) => column.padStart(index % 3 === 1 ? 14 : 7)).join('')}`;
}
