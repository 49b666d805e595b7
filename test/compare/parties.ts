import { errors, Pool } from 'undici';
import { send } from '../conformance/replay.js';
import type { Dataset, Labels, Stream, TenantData } from './data/dataset.js';
import { insertionOf, type Insertion } from './data/doors.js';
import { caseOf } from './question.js';
import { NoAnswerError, type Ask } from './verdict.js';

/** The backend's account of a tenant. */
export interface Account {
  readonly account: number;
  readonly project: number;
}

export interface Party {
  readonly ask: Ask;
  close(): Promise<void>;
}

const timeoutMs = 30_000;

/** A server that implements Loki's API. */
export function partyAt(url: string): Party {
  const pool = new Pool(url, { connections: 4, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  return { ask: (question) => sentAgain(url, () => send(pool, caseOf(question))), close: () => pool.close() };
}

/** Retries a request: a server under load may drop connections or time out, which says nothing about its responses. */
async function sentAgain<Value>(url: string, ask: () => Promise<Value>): Promise<Value> {
  for (let left = mostBroken; ; left -= 1) {
    try {
      return await ask();
    } catch (error) {
      const isOfTheLoad = error instanceof errors.SocketError || error instanceof errors.HeadersTimeoutError;
      if (!isOfTheLoad) throw error;
      if (left === 0) throw new NoAnswerError(`${url} does not answer: ${error.message}`, { cause: error });
      console.error(`${url} is asked again: ${error.message}`);
    }
  }
}

const mostBroken = 2;
const linesPerPush = 2000;

async function post(
  url: string,
  { path, contentType, body }: Insertion,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const answer = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': contentType, ...headers },
    body,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} refused ${path}: ${answer.status} ${text.slice(0, 300)}`);
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

/** Pushes repeated rows as often as the backend has them. */
export async function pushToLoki(url: string, { tenant, sources, streams }: TenantData): Promise<void> {
  const later = new Set(sources.flatMap(({ laterRows }) => laterRows));
  for (const isLater of [false, true]) {
    for (const batch of batches(streams)) {
      const body = JSON.stringify({
        streams: batch.map(({ labels, entries }) => ({
          stream: labels,
          values: entries.flatMap(({ ns, line, metadata, rows }) =>
            rows.filter((row) => later.has(row) === isLater).map(() => [String(ns), line, metadata]),
          ),
        })),
      });
      const path = '/loki/api/v1/push';
      await post(url, { path, contentType: 'application/json', body }, { 'x-scope-orgid': tenant });
    }
  }
}

export async function pushToBackend(url: string, { sources }: TenantData, account: Account): Promise<void> {
  const headers = accountHeaders(account);
  for (const source of sources) await post(url, insertionOf(source, source.rows), headers);
  for (const source of sources)
    if (source.laterRows.length > 0) await post(url, insertionOf(source, source.laterRows), headers);
}

function accountHeaders({ account, project }: Account): Readonly<Record<string, string>> {
  return { accountid: String(account), projectid: String(project) };
}

/** Number of entries that Loki has for a tenant. */
export async function countInLoki(url: string, tenant: string, { startNs, endNs }: Dataset): Promise<number> {
  const seconds = (endNs - startNs) / 1_000_000_000n;
  const params = new URLSearchParams({
    query: `sum(count_over_time({service_name=~".+"}[${seconds}s]))`,
    time: String(endNs - 1n),
  });
  const answer = await fetch(`${url}/loki/api/v1/query?${params.toString()}`, {
    headers: { 'x-scope-orgid': tenant },
  });
  // The form of Loki's vectors.
  const { data } = (await answer.json()) as {
    readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
  };
  return Number(data.result[0]?.value[1] ?? 0);
}

/** Number of entries in Loki's index statistics. */
export async function countInIndex(
  url: string,
  tenant: string,
  { startNs, endNs }: Dataset,
): Promise<number> {
  const params = new URLSearchParams({
    query: '{service_name=~".+"}',
    start: String(startNs),
    end: String(endNs),
  });
  const answer = await fetch(`${url}/loki/api/v1/index/stats?${params.toString()}`, {
    headers: { 'x-scope-orgid': tenant },
  });
  // The form of Loki's statistics.
  const { entries } = (await answer.json()) as { readonly entries: number };
  return entries;
}

/** All rows of a tenant in the backend, with all their fields. */
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
  // VictoriaLogs prints rows as JSON objects of strings.
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Labels);
}
