import { errors, Pool } from 'undici';
import { send } from '../conformance/replay.js';
import type { Dataset, Labels, Stream, TenantData } from './data/dataset.js';
import { caseOf } from './question.js';
import type { Ask } from './verdict.js';

/** The backend's account of a tenant. */
export interface Account {
  readonly account: number;
  readonly project: number;
}

export interface Party {
  readonly ask: Ask;
  close(): Promise<void>;
}

const timeoutMs = 60_000;

/** Whoever answers Loki's API at an address. */
export function partyAt(url: string): Party {
  const pool = new Pool(url, { connections: 4, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  return { ask: (question) => sentAgain(url, () => send(pool, caseOf(question))), close: () => pool.close() };
}

/** A server under load breaks off connections or is late, which says nothing about its answers. */
async function sentAgain<Value>(url: string, ask: () => Promise<Value>): Promise<Value> {
  for (let left = mostBroken; ; left -= 1) {
    try {
      return await ask();
    } catch (error) {
      const isOfTheLoad = error instanceof errors.SocketError || error instanceof errors.HeadersTimeoutError;
      if (left === 0 || !isOfTheLoad) throw error;
      console.error(`${url} is asked again: ${error.message}`);
    }
  }
}

interface Target {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const mostBroken = 3;
const linesPerPush = 2000;

async function push({ url, path, headers }: Target, { streams }: TenantData): Promise<void> {
  for (const batch of batches(streams)) {
    const body = JSON.stringify({
      streams: batch.map(({ labels, entries }) => ({
        stream: labels,
        values: entries.map(({ ns, line, metadata }) => [String(ns), line, metadata]),
      })),
    });
    const answer = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${url} refused a push: ${answer.status} ${text.slice(0, 300)}`);
  }
}

function batches(streams: readonly Stream[]): readonly (readonly Stream[])[] {
  const made: Stream[][] = [[]];
  let lines = 0;
  for (const stream of streams) {
    if (lines > linesPerPush) {
      made.push([]);
      lines = 0;
    }
    made.at(-1)?.push(stream);
    lines += stream.entries.length;
  }
  return made;
}

export async function pushToLoki(url: string, data: TenantData): Promise<void> {
  await push({ url, path: '/loki/api/v1/push', headers: { 'x-scope-orgid': data.tenant } }, data);
}

export async function pushToBackend(url: string, data: TenantData, account: Account): Promise<void> {
  await push(
    { url, path: '/insert/loki/api/v1/push?disable_message_parsing=1', headers: accountHeaders(account) },
    data,
  );
}

function accountHeaders({ account, project }: Account): Readonly<Record<string, string>> {
  return { accountid: String(account), projectid: String(project) };
}

/** How many entries Loki has of a tenant. */
export async function countInLoki(url: string, tenant: string, { startNs, endNs }: Dataset): Promise<number> {
  const seconds = (endNs - startNs) / 1_000_000_000n;
  const params = new URLSearchParams({
    query: `sum(count_over_time({env=~".+"}[${seconds}s]))`,
    time: String(endNs - 1n),
  });
  const answer = await fetch(`${url}/loki/api/v1/query?${params.toString()}`, {
    headers: { 'x-scope-orgid': tenant },
  });
  // The form is that of Loki's vectors.
  const { data } = (await answer.json()) as {
    readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
  };
  return Number(data.result[0]?.value[1] ?? 0);
}

/** How many entries the statistics of Loki count. */
export async function countInIndex(
  url: string,
  tenant: string,
  { startNs, endNs }: Dataset,
): Promise<number> {
  const params = new URLSearchParams({ query: '{env=~".+"}', start: String(startNs), end: String(endNs) });
  const answer = await fetch(`${url}/loki/api/v1/index/stats?${params.toString()}`, {
    headers: { 'x-scope-orgid': tenant },
  });
  // The form is that of Loki's statistics.
  const { entries } = (await answer.json()) as { readonly entries: number };
  return entries;
}

/** The rows that a backend has of a tenant, with all their fields. */
export async function rowsOf(
  url: string,
  account: Account,
  { startNs, endNs }: Dataset,
): Promise<readonly Labels[]> {
  const form = new URLSearchParams({ query: '*', start: String(startNs), end: String(endNs) });
  const answer = await fetch(new URL('/select/logsql/query', url), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...accountHeaders(account) },
    body: form.toString(),
  });
  const text = await answer.text();
  if (!answer.ok)
    throw new Error(`the backend refused to list its rows: ${answer.status} ${text.slice(0, 300)}`);
  // VictoriaLogs prints rows as JSON objects of texts.
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Labels);
}
