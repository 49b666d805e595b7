import { request } from 'undici';
import { readLines } from './cases.js';

/** Backend tenants of the corpus: AccountID by X-Scope-OrgID, ProjectID 0. */
export const accounts: ReadonlyMap<string, number> = new Map([
  ['t1', 11],
  ['t2', 12],
  ['t3', 13],
]);

const folder = 'test/data/conformance';

interface RowBatch {
  readonly tenant: string;
  readonly stream_fields: readonly string[];
  readonly rows: readonly object[];
}

/** Pushes the entries of the corpus into an empty store, and the rows that an OTLP export leaves there. */
export async function loadData(backendUrl: string): Promise<void> {
  await pushEntries(backendUrl, '?disable_message_parsing=1');
  for (const line of readLines(`${folder}/otel-rows.jsonl.gz`)) {
    const batch = JSON.parse(line) as RowBatch;
    const path = `/insert/jsonline?_stream_fields=${encodeURIComponent(batch.stream_fields.join(','))}`;
    const rows = batch.rows.map((row) => JSON.stringify(row)).join('\n');
    await push(backendUrl, path, batch.tenant, 'application/stream+json', rows);
  }
}

/** Pushes the entries as VictoriaLogs takes them when nothing is said: lines that are JSON objects are taken apart into fields. */
export async function loadParsedData(backendUrl: string): Promise<void> {
  await pushEntries(backendUrl, '');
}

async function pushEntries(backendUrl: string, parameters: string): Promise<void> {
  for (const line of readLines(`${folder}/dataset.jsonl.gz`)) {
    const { tenant, streams } = JSON.parse(line) as { readonly tenant: string; readonly streams: unknown };
    const path = `/insert/loki/api/v1/push${parameters}`;
    await push(backendUrl, path, tenant, 'application/json', JSON.stringify({ streams }));
  }
}

async function push(
  url: string,
  path: string,
  tenant: string,
  contentType: string,
  body: string,
): Promise<void> {
  const headers = {
    'content-type': contentType,
    accountid: String(accounts.get(tenant) ?? 0),
    projectid: '0',
  };
  const answer = await request(new URL(path, url), { method: 'POST', headers, body });
  const text = await answer.body.text();
  if (answer.statusCode >= 300)
    throw new Error(`the backend refused a push: ${answer.statusCode} ${text.slice(0, 300)}`);
}

/** True when a backend shows all rows of the corpus. */
export async function isLoaded(url: string): Promise<boolean> {
  return (await countRows(url, 't1')) >= 30_470 && (await countRows(url, 't3')) >= 4_110;
}

/** Waits until a backend shows what was pushed last. */
export async function waitUntilVisible(url: string, timeoutMs: number): Promise<void> {
  const until = Date.now() + timeoutMs;
  while (Date.now() < until) {
    if (await isLoaded(url)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the pushed rows did not become visible');
}

async function countRows(url: string, tenant: string): Promise<number> {
  const form = new URLSearchParams({
    query: '* | stats count() rows',
    start: '1793491200',
    end: '1793520000',
  });
  const answer = await request(new URL('/select/logsql/query', url), {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accountid: String(accounts.get(tenant) ?? 0),
    },
    body: form.toString(),
  });
  const match = /"rows":"(\d+)"/.exec(await answer.body.text());
  return Number(match?.[1] ?? 0);
}
