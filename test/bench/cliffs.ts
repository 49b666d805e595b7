/**
 * The cost of exceptional data: the same queries over rows of which 1, 5 and 20 % are exceptional in one way, compared to rows without
 * exceptions. Needs BACKEND_URL; fills separate accounts once for each number of rows (BENCH_ROWS) and streams (BENCH_STREAMS).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ask, movedSteps, quantile, serveArguments, type Account } from './asking.js';
import { cliffBatches, cliffsEndMs, cliffsStartMs, type Exception } from './cliffs-logs.js';
import { fillAccount } from './fill.js';
import { startProgram } from './program.js';
import { note } from './report.js';

const rows = Number(process.env['BENCH_ROWS'] ?? 300_000);
const streams = Number(process.env['BENCH_STREAMS'] ?? 200);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);
const only = process.env['BENCH_ONLY'] ?? '';
const warmRounds = 2;
/** Lets the proxy finish its deferred background work. */
const spareMs = 5_000;
const percents = [0, 1, 5, 20] as const;
const widthSeconds = 120;

const exceptions: readonly Exception[] = [
  'rows pushed twice',
  'minutes pushed twice',
  'streams of mixed formats',
  'rows without a line',
  'streams with clashing names',
  'levels spelled oddly',
];

/** `{width}` is the window width. */
const questions = [
  { name: 'rate by a label', query: 'sum by (namespace) (rate({env="prod"} [{width}]))' },
  {
    name: 'level histogram',
    query: 'sum by (level, detected_level) (count_over_time({env="prod"} | drop __error__ [{width}]))',
  },
  {
    name: 'count by a JSON field',
    query: 'sum by (status) (count_over_time({env="prod", app="gateway"} | json | __error__="" [{width}]))',
  },
  {
    name: '0.99 quantile of a JSON field',
    query:
      'quantile_over_time(0.99, {env="prod", app="gateway"} | json | unwrap duration_ms | __error__="" [{width}]) by (method)',
  },
] as const;

/** Prints the cost of the queries for each kind of exception, relative to rows without any. */
export async function run(): Promise<void> {
  const backendUrl = process.env['BACKEND_URL'];
  if (backendUrl === undefined) {
    console.log('left out: it needs a VictoriaLogs, BACKEND_URL');
    return;
  }
  console.log(
    `${rows.toLocaleString('en')} rows over 6 h in ${streams} streams for each share; p50 of ${rounds} after ${warmRounds}, each over another range: without exceptions in ms, with them relative to that, and the aim of 1 + x/10`,
  );
  for (const exception of exceptions.filter((name) => name.includes(only)))
    await compareShares(backendUrl, exception);
}

async function compareShares(backendUrl: string, exception: Exception): Promise<void> {
  const accounts: Record<string, Account> = {};
  for (const percent of percents) {
    const account = accountOf(exception, percent);
    accounts[tenantOf(percent)] = account;
    const data = { exception, percent, rows, streams };
    await fillAccount(backendUrl, account, { lines: rows, batches: () => cliffBatches(data) });
  }
  const proxy = await startProgram(serveArguments(backendUrl, accounts));
  console.log(
    row(exception, 'x = 0, ms', ...percents.slice(1).flatMap((percent) => [`${percent} %`, 'aim'])),
  );
  const failed = new Map<string, string>();
  try {
    for (const { name, query } of questions)
      await warm(proxy.url, query).catch((error: unknown) => failed.set(name, String(error)));
    await pause(spareMs);
    for (const { name, query } of questions) {
      const failure = failed.get(name);
      if (failure === undefined) await compareShare(proxy.url, exception, name, query);
      else console.log(`  ${name}: ${failure}`);
    }
  } finally {
    await proxy.stop();
  }
}

async function warm(url: string, query: string): Promise<void> {
  for (let round = 0; round < warmRounds; round += 1)
    for (const percent of percents) await askOnce(url, percent, query, round);
}

async function compareShare(url: string, exception: Exception, name: string, query: string): Promise<void> {
  const taken = new Map(percents.map((percent): [number, number[]] => [percent, []]));
  for (let round = warmRounds; round < warmRounds + rounds; round += 1)
    for (const percent of percents) taken.get(percent)?.push(await askOnce(url, percent, query, round));
  const p50 = (percent: number): number => quantile(taken.get(percent) ?? [], 0.5);
  const cells = percents.slice(1).flatMap((percent) => {
    const cost = p50(percent) / p50(0);
    note('cliffs', `${exception}, ${percent} %, ${streams} streams: ${name}`, cost);
    return [cost.toFixed(2), String(1 + percent / 10)];
  });
  console.log(row(`  ${name}`, p50(0).toFixed(1), ...cells));
}

/** All kinds of exceptions share the rows without exceptions. */
function accountOf(exception: Exception, percent: number): Account {
  const kind = percent === 0 ? 0 : 1 + exceptions.indexOf(exception);
  return {
    AccountID: String(3_500 + kind * 100 + percent),
    ProjectID: String(streams * 100_000 + Math.round(rows / 1_000)),
  };
}

function tenantOf(percent: number): string {
  return `share${percent}`;
}

function askOnce(url: string, percent: number, query: string, round: number): Promise<number> {
  const { width, range } = movedSteps(cliffsStartMs, cliffsEndMs, widthSeconds, round);
  const form = new URLSearchParams({ query: query.replace('{width}', width), ...range });
  return ask({ url, headers: { 'X-Scope-OrgID': tenantOf(percent) } }, '/loki/api/v1/query_range', form);
}

function row(name: string, ...columns: readonly string[]): string {
  return `${name.padEnd(34)}${columns.map((column, index) => column.padStart(index === 0 ? 11 : index % 2 === 1 ? 8 : 6)).join('')}`;
}
