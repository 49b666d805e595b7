import { setTimeout as pause } from 'node:timers/promises';
import type { Account } from './asking.js';

/** A stream of Loki's push API. */
export interface PushedStream {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: (readonly [
    timestampNs: string,
    line: string,
    metadata: Readonly<Record<string, string>>,
  ])[];
}

/** Rows of an account: how many they are in all, and how they are made. */
export interface Rows {
  readonly lines: number;
  readonly batches: () => Iterable<readonly PushedStream[]>;
}

const progressEveryMs = 10_000;
const lookEveryMs = 500;
const longestWaitMs = 60_000;
const longestMergeMs = 300_000;

/**
 * Pushes rows to an account that holds none, and leaves one that holds as many as it is. While a batch is sent, the next one is made; no more
 * than two are in memory.
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
    // It is awaited with the next batch; until then a failure has no handler.
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
  // VictoriaLogs shows rows about a second after it took them.
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

/** VictoriaLogs merges what was pushed in the background, with all processors. */
async function restAfterMerges(url: string): Promise<void> {
  const deadline = performance.now() + longestMergeMs;
  do await pause(lookEveryMs * 4);
  while (performance.now() < deadline && (await isMerging(url)));
}

async function isMerging(url: string): Promise<boolean> {
  const answer = await fetch(new URL('/metrics', url));
  return /^vl_active_merges\{.*\} [1-9]/m.test(await answer.text());
}
