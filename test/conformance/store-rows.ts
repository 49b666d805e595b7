import { request } from 'undici';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';

/** A row as VictoriaLogs accepts it: fields by name. */
export type StoredRow = Readonly<Record<string, string>>;

/** Starts an embedded backend with rows of tenant 0:0, stored in streams with these fields. */
export async function storeRows(
  streamFields: readonly string[],
  rows: readonly StoredRow[],
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const backend = await startDevBackend();
  await pushRows(backend.url, streamFields, rows);
  return backend;
}

/** Stores more rows of tenant 0:0 in a backend. */
export async function pushRows(
  url: string,
  streamFields: readonly string[],
  rows: readonly StoredRow[],
): Promise<void> {
  const path = `/insert/jsonline?_stream_fields=${encodeURIComponent(streamFields.join(','))}`;
  const answer = await request(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': 'application/stream+json' },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });
  await answer.body.dump();
  if (answer.statusCode >= 300) throw new Error(`the backend refused the rows: ${answer.statusCode}`);
}

/** Requests JSON from a proxy. */
export async function ask(
  url: string,
  path: string,
  params: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const range = { start: '1793491200000000000', end: '1793494800000000000' };
  const query = new URLSearchParams({ ...range, ...params }).toString();
  const answer = await request(`${url}/loki/api/v1/${path}?${query}`, { headers });
  // Every response in these tests is a JSON object.
  return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
}
