import { request } from 'undici';
import { parseRowTime } from '../../core/victoria/names/row-reader.js';
import { readLines } from './cases.js';
import { conformanceCorpus, type Corpus, type EntryBatch } from './corpus.js';

interface RowBatch {
  readonly tenant: string;
  readonly stream_fields: readonly string[];
  readonly rows: readonly { readonly _time: string }[];
}

/** Decides if a store gets an entry, by its time (Unix nanoseconds) and its content. */
export type Keeps = (ns: bigint, content: string) => boolean;

const everything: Keeps = () => true;

/** Pushes the entries and rows of a corpus into an empty store, and returns their counts by tenant. */
export async function loadData(
  backendUrl: string,
  keeps: Keeps = everything,
  corpus = conformanceCorpus,
): Promise<ReadonlyMap<string, number>> {
  const counts = await pushEntries(corpus, backendUrl, '?disable_message_parsing=1', keeps);
  for (const line of corpus.rows.flatMap(readLines)) {
    const batch = JSON.parse(line) as RowBatch;
    const path = `/insert/jsonline?_stream_fields=${encodeURIComponent(batch.stream_fields.join(','))}`;
    const rows = batch.rows
      .filter((row) => keeps(parseRowTime(row._time), JSON.stringify(row)))
      .map((row) => JSON.stringify(row));
    counts.set(batch.tenant, (counts.get(batch.tenant) ?? 0) + rows.length);
    if (rows.length > 0)
      await push(corpus, backendUrl, path, batch.tenant, 'application/stream+json', rows.join('\n'));
  }
  return counts;
}

/** Pushes the entries with VictoriaLogs' default settings: lines that are JSON objects are parsed into fields. */
export async function loadParsedData(backendUrl: string): Promise<void> {
  await pushEntries(conformanceCorpus, backendUrl, '', everything);
}

/** Pushes the entries of a corpus into a Loki, each batch as its tenant. */
export async function loadLoki(url: string, keeps: Keeps, corpus = conformanceCorpus): Promise<void> {
  for (const { tenant, streams } of batchesOf(corpus, keeps)) {
    const answer = await request(new URL('/loki/api/v1/push', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
      body: JSON.stringify({ streams }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300)
      throw new Error(`the Loki refused a push: ${answer.statusCode} ${text.slice(0, 300)}`);
  }
}

/** The batches of entries that pass `keeps`. */
function* batchesOf(corpus: Corpus, keeps: Keeps): Generator<EntryBatch> {
  for (const line of corpus.entries.flatMap(readLines)) {
    const { tenant, streams } = JSON.parse(line) as EntryBatch;
    const kept = streams
      .map(({ stream, values }) => ({
        stream,
        values: values.filter((value) => keeps(BigInt(value[0]), JSON.stringify([stream, value]))),
      }))
      .filter(({ values }) => values.length > 0);
    if (kept.length > 0) yield { tenant, streams: kept };
  }
}

async function pushEntries(
  corpus: Corpus,
  backendUrl: string,
  parameters: string,
  keeps: Keeps,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { tenant, streams } of batchesOf(corpus, keeps)) {
    for (const { values } of streams) counts.set(tenant, (counts.get(tenant) ?? 0) + values.length);
    const path = `/insert/loki/api/v1/push${parameters}`;
    await push(corpus, backendUrl, path, tenant, 'application/json', JSON.stringify({ streams }));
  }
  return counts;
}

async function push(
  { accounts }: Corpus,
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

/** True when a backend returns all rows of the corpus, or of its part. */
async function isLoaded(url: string, corpus = conformanceCorpus, wanted = corpus.wanted): Promise<boolean> {
  for (const [tenant, rows] of wanted) if ((await countRows(url, corpus, tenant)) < rows) return false;
  return true;
}

/** Loads a corpus into a backend unless it is already loaded: a real store keeps duplicate entries, so it must be filled only once. */
export async function fillStore(url: string, corpus: Corpus): Promise<void> {
  if (await isLoaded(url, corpus)) return;
  await loadData(url, undefined, corpus);
  await waitUntilVisible(url, 30_000, corpus);
}

/** Waits until the latest pushes are visible in a backend. */
export async function waitUntilVisible(
  url: string,
  timeoutMs: number,
  corpus = conformanceCorpus,
  wanted = corpus.wanted,
): Promise<void> {
  const until = Date.now() + timeoutMs;
  while (Date.now() < until) {
    if (await isLoaded(url, corpus, wanted)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the pushed rows did not become visible');
}

/** Counts rows of streams that are already in the backend's index, which lags behind its row count. */
async function countRows(url: string, { accounts, range }: Corpus, tenant: string): Promise<number> {
  const form = new URLSearchParams({
    query: '{no_stream_has_this=""} | stats count() rows',
    start: String(range.start),
    end: String(range.end),
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
