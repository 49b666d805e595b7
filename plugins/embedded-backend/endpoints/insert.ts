import { readRaw, unpackBody } from '../http/body.js';
import { type Context, answerText } from '../http/context.js';
import { badRequest, HttpError } from '../http/errors.js';
import { ingestJsonLine, type JsonLineOptions } from '../ingest/json-line.js';
import { decodeLokiPush } from '../ingest/loki-protobuf.js';
import { ingestLokiStream, type LokiStream, parseLokiJson } from '../ingest/loki-push.js';
import { fieldOf } from '../logsql/parse-tokens.js';
import { RowSink } from '../ingest/row-sink.js';
import { decodeSnappy } from '../ingest/snappy.js';

/** Number of rows stored before other work gets a turn. */
const YIELD_ROWS = 2000;

/** `POST /insert/jsonline`: NDJSON rows (docs/protocol/victorialogs.md#ingestion). */
export async function insertJsonLine(ctx: Context): Promise<void> {
  const body = await readBody(ctx);
  const options = jsonLineOptions(ctx);
  const sink = newSink(ctx);
  let rows = 0;
  for (let at = 0; at < body.length;) {
    const found = body.indexOf(0x0a, at);
    const end = found === -1 ? body.length : found;
    if (!ingestJsonLine(body.toString('utf8', at, end), options, sink, ctx.nowNs))
      throw await storeFull(ctx, sink);
    at = end + 1;
    if (++rows % YIELD_ROWS === 0) await new Promise(setImmediate);
  }
  await finish(ctx, sink);
  await answerText(ctx, 200, '');
}

/** `POST /insert/elasticsearch/_bulk`: pairs of lines, a command to create a document and the document. */
export async function insertElasticsearch(ctx: Context): Promise<void> {
  const lines = (await readBody(ctx)).toString('utf8').split('\n');
  const options = jsonLineOptions(ctx, '@timestamp');
  const sink = newSink(ctx);
  const items: object[] = [];
  let isDocument = false;
  for (const line of lines) {
    if (line.trim() === '') continue;
    if (!isDocument) checkCommand(line);
    else if (!ingestJsonLine(line, options, sink, ctx.nowNs)) throw await storeFull(ctx, sink);
    else if (items.push({ create: { status: 201 } }) % YIELD_ROWS === 0) await new Promise(setImmediate);
    isDocument = !isDocument;
  }
  await finish(ctx, sink);
  await answerText(ctx, 200, JSON.stringify({ took: 0, errors: false, items }), 'application/json');
}

function checkCommand(line: string): void {
  if (!/^\s*\{\s*"(?:create|index)"\s*:/.test(line))
    throw badRequest(`expecting "create" or "index" command; got ${line.slice(0, 100)}`);
}

/** `POST /insert/loki/api/v1/push`: JSON, or snappy-packed protobuf. */
export async function insertLoki(ctx: Context): Promise<void> {
  const streams = await readLokiStreams(ctx);
  const keepMessage = ctx.args.bool('disable_message_parsing');
  const sink = newSink(ctx);
  let rows = 0;
  for (const stream of streams) {
    if (!ingestLokiStream(stream, keepMessage, sink, ctx.nowNs)) throw await storeFull(ctx, sink);
    rows += stream.entries.length;
    if (rows > YIELD_ROWS) {
      rows = 0;
      await new Promise(setImmediate);
    }
  }
  await finish(ctx, sink);
  await answerText(ctx, 204, '');
}

async function readLokiStreams(ctx: Context): Promise<LokiStream[]> {
  const isJson = (ctx.req.headers['content-type'] ?? '').startsWith('application/json');
  if (isJson) {
    const text = (await readBody(ctx)).toString('utf8');
    return wrap('cannot parse Loki json request', () => parseLokiJson(text));
  }
  // Protobuf bodies are snappy blocks by definition; a Content-Encoding only repeats that.
  const raw = await readRaw(ctx.req);
  const encoding = ctx.req.headers['content-encoding'] ?? '';
  const packed = encoding === 'snappy' ? raw : await unpackBody(raw, encoding);
  const unpacked = wrap('cannot read Loki protobuf data: cannot decompress data', () => decodeSnappy(packed));
  return wrap('cannot read Loki protobuf data', () => decodeLokiPush(unpacked));
}

function wrap<T>(prefix: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badRequest(`${prefix}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function readBody(ctx: Context): Promise<Buffer> {
  // A body with a form content type was already read as parameters.
  if (ctx.req.readableEnded) return Buffer.alloc(0);
  return unpackBody(await readRaw(ctx.req), ctx.req.headers['content-encoding'] ?? '');
}

function newSink(ctx: Context): RowSink {
  const { journal, store } = ctx.backend;
  return new RowSink(store, ctx.tenant, journal === undefined ? undefined : journal.addRow.bind(journal));
}

async function finish(ctx: Context, sink: RowSink): Promise<void> {
  ctx.backend.counters.rowsDropped += sink.counts.dropped;
  await ctx.backend.journal?.commit();
}

async function storeFull(ctx: Context, sink: RowSink): Promise<HttpError> {
  await finish(ctx, sink);
  return new HttpError(
    429,
    `the embedded backend is full: it stores about ${ctx.backend.store.bytes} of ${ctx.backend.store.maxBytes} bytes; ` +
      `${sink.counts.accepted} rows of this request were stored; raise maxBytes or delete rows`,
  );
}

function jsonLineOptions(ctx: Context, usualTimeField = '_time'): JsonLineOptions {
  const option = (arg: string, headerName: string): string[] => {
    const value = ctx.args.get(arg);
    const header = ctx.req.headers[headerName];
    return (value === '' && typeof header === 'string' ? header : value)
      .split(',')
      .filter((item) => item !== '');
  };
  return {
    streamFields: option('_stream_fields', 'vl-stream-fields'),
    msgFields: option('_msg_field', 'vl-msg-field'),
    timeField: option('_time_field', 'vl-time-field')[0] ?? usualTimeField,
    ignoreFields: option('ignore_fields', 'vl-ignore-fields').map(fieldOf),
    extraFields: option('extra_fields', 'vl-extra-fields').map((pair) => {
      const at = pair.indexOf('=');
      if (at === -1) throw badRequest(`missing '=' in extra_fields item ${JSON.stringify(pair)}`);
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  };
}
