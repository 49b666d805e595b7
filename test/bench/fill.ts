import { setTimeout as pause } from 'node:timers/promises';
import type { Account } from './asking.js';

/** A stream in Loki's push API. */
export interface PushedStream {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: (readonly [
    timestampNs: string,
    line: string,
    metadata: Readonly<Record<string, string>>,
  ])[];
}

/** The rows of an account: their total number, and a generator of batches. */
export interface Rows {
  readonly lines: number;
  readonly batches: () => Iterable<readonly PushedStream[]>;
}

const progressEveryMs = 10_000;
const lookEveryMs = 500;
const longestWaitMs = 60_000;
const longestMergeMs = 300_000;

/**
 * Pushes rows to an empty account; leaves an account alone that already has this number of rows. Generates the next batch while one is
 * sent, so at most two are in memory.
 */
export async function fillAccount(
  url: string,
  account: Account,
  { lines, batches }: Rows,
  tell: (text: string) => void = console.log,
): Promise<void> {
  const name = `account ${account.AccountID}:${account.ProjectID}`;
  const known = await countRows(url, account);
  if (known === lines) {
    tell(`${name} already holds its ${lines.toLocaleString('en')} rows; nothing was pushed`);
    return;
  }
  if (known > 0) throw new Error(`${name} holds ${known} rows that are not this data set`);
  const startedAt = performance.now();
  let toldAt = startedAt;
  let sent = 0;
  let sending = Promise.resolve();
  for (const streams of batches()) {
    await sending;
    sending = push(url, account, streams);
    // The next iteration awaits it; until then a failure would have no handler.
    sending.catch(() => undefined);
    sent += streams.reduce((sum, { values }) => sum + values.length, 0);
    const now = performance.now();
    if (now - toldAt < progressEveryMs) continue;
    toldAt = now;
    const perSecond = (sent / (now - startedAt)) * 1_000;
    tell(
      `${name}: ${sent.toLocaleString('en')} of ${lines.toLocaleString('en')} rows pushed, ${Math.round(perSecond).toLocaleString('en')} a second, ${Math.ceil((lines - sent) / perSecond)} s left`,
    );
  }
  await sending;
  // VictoriaLogs shows rows about a second after ingestion.
  const deadline = performance.now() + longestWaitMs;
  while ((await countRows(url, account)) !== lines) {
    if (performance.now() > deadline) throw new Error(`${name} does not show ${lines} rows after a minute`);
    await pause(lookEveryMs);
  }
  await restAfterMerges(url);
  tell(
    `${name}: ${lines.toLocaleString('en')} rows pushed in ${Math.round((performance.now() - startedAt) / 1_000)} s`,
  );
}

async function push(url: string, account: Account, streams: readonly PushedStream[]): Promise<void> {
  const answer = await fetch(new URL('/insert/loki/api/v1/push?disable_message_parsing=1', url), {
    method: 'POST',
    headers: { ...account, 'Content-Type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  const text = await answer.text();
  if (answer.status >= 300) throw new Error(`push was answered ${answer.status}: ${text}`);
}

async function countRows(url: string, account: Account): Promise<number> {
  const answer = await fetch(new URL('/select/logsql/query', url), {
    method: 'POST',
    headers: account,
    body: new URLSearchParams({ query: '* | stats count() c' }),
  });
  return Number(/"c":"(\d+)"/.exec(await answer.text())?.[1] ?? 0);
}

/** Waits until VictoriaLogs has merged the pushed data, which it does in the background on all CPUs. */
async function restAfterMerges(url: string): Promise<void> {
  const deadline = performance.now() + longestMergeMs;
  do await pause(lookEveryMs * 4);
  while (performance.now() < deadline && (await isMerging(url)));
}

async function isMerging(url: string): Promise<boolean> {
  const answer = await fetch(new URL('/metrics', url));
  return /^vl_active_merges\{.*\} [1-9]/m.test(await answer.text());
}
