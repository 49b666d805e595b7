import type { Recording, Reply } from './recordings.js';

/** A text about the difference between a recording and an answer; undefined when they agree under the recording's rule. */
export function compareReply(
  recording: Recording,
  reply: Reply,
  ids: StreamIds,
  unlimited?: Reply,
): string | undefined {
  if (reply.status !== recording.status)
    return `status ${reply.status}, want ${recording.status}: ${cut(reply.body)}`;
  if (reply.contentType !== recording.contentType) {
    return `content type ${JSON.stringify(reply.contentType)}, want ${JSON.stringify(recording.contentType)}`;
  }
  switch (recording.compare) {
    case 'error':
      return undefined;
    case 'text':
      return same([recording.body], [reply.body]);
    case 'rows':
      return same(rows(recording.body, ids.wanted).sort(), rows(reply.body, ids.got).sort());
    case 'rows-ordered':
      return same(rows(recording.body, ids.wanted), rows(reply.body, ids.got));
    case 'json':
      return same([canonical(ids.wanted(parse(recording.body)))], [canonical(ids.got(parse(reply.body)))]);
    case 'set':
      return same(asSet(ids.wanted(parse(recording.body))), asSet(ids.got(parse(reply.body))));
    case 'names':
      return same(names(recording.body).sort(), names(reply.body).sort());
    case 'subset':
      return compareSubset(recording, reply, unlimited);
  }
}

type IdMap = (value: unknown) => unknown;

/** Makes stream ids of both sides comparable: every id maps to a name for its stream. */
export interface StreamIds {
  readonly wanted: IdMap;
  readonly got: IdMap;
}

const STREAM_ID = /^[0-9a-f]{48}$/;

/** Learns ids from rows that contain both `_stream` and `_stream_id`; all ids without such a row are treated as equal. */
export function learnStreamIds(bodies: Iterable<string>): IdMap {
  const known = new Map<string, string>();
  for (const body of bodies) {
    for (const line of body.split('\n')) {
      if (!line.includes('"_stream_id"')) continue;
      const row: unknown = tryParse(line);
      if (!isRecord(row)) continue;
      const { _stream: stream, _stream_id: id } = row;
      if (typeof stream === 'string' && typeof id === 'string') known.set(id, `${id.slice(0, 16)} ${stream}`);
    }
  }
  const map: IdMap = (value) => {
    if (typeof value === 'string') return STREAM_ID.test(value) ? (known.get(value) ?? 'a stream id') : value;
    if (Array.isArray(value)) return value.map(map);
    if (isRecord(value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item)]));
    return value;
  };
  return map;
}

function compareSubset(recording: Recording, reply: Reply, unlimited: Reply | undefined): string | undefined {
  const wanted = valuesOf(parse(recording.body));
  const got = valuesOf(parse(reply.body));
  if (got.length !== wanted.length) return `${got.length} values, want ${wanted.length}`;
  const all = new Set(
    valuesOf(parse(unlimited?.body ?? '{}')).map((item) => (isRecord(item) ? item['value'] : item)),
  );
  for (const item of got) {
    if (!isRecord(item) || item['hits'] !== 0) return `a value of a cut list has hits: ${canonical(item)}`;
    if (!all.has(item['value'])) return `a value that the whole list lacks: ${canonical(item)}`;
  }
  return undefined;
}

function rows(body: string, map: IdMap): string[] {
  return body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => canonical(map(parse(line))));
}

function asSet(document: unknown): string[] {
  if (!isRecord(document)) return [canonical(document)];
  const data = document['data'];
  if (isRecord(data) && Array.isArray(data['result'])) {
    const head = canonical({ ...document, data: { ...data, result: [] } });
    return [head, ...data['result'].map(canonical).sort()];
  }
  return [canonical({ ...document, values: [] }), ...valuesOf(document).map(canonical).sort()];
}

function names(body: string): string[] {
  const document = tryParse(body);
  const items =
    isRecord(document) && 'values' in document
      ? valuesOf(document)
      : body
          .split('\n')
          .filter((line) => line !== '')
          .map(parse);
  return items.map((item) => (isRecord(item) ? String(item['value'] ?? item['name']) : canonical(item)));
}

function valuesOf(document: unknown): unknown[] {
  return isRecord(document) && Array.isArray(document['values']) ? (document['values'] as unknown[]) : [];
}

function same(wanted: readonly string[], got: readonly string[]): string | undefined {
  if (wanted.length === got.length && wanted.every((item, i) => item === got[i])) return undefined;
  const missing = without(wanted, got).map((item) => `  - ${cut(item)}`);
  const extra = without(got, wanted).map((item) => `  + ${cut(item)}`);
  const lines = [...missing.slice(0, 6), ...extra.slice(0, 6)];
  return [
    `${got.length} items, want ${wanted.length}`,
    ...(lines.length === 0 ? ['  the order differs'] : lines),
  ].join('\n');
}

/** Multiset difference. */
function without(list: readonly string[], minus: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const item of minus) counts.set(item, (counts.get(item) ?? 0) + 1);
  return list.filter((item) => {
    const left = counts.get(item) ?? 0;
    if (left > 0) counts.set(item, left - 1);
    return left === 0;
  });
}

/** JSON text with sorted keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

function parse(text: string): unknown {
  return tryParse(text) ?? `not JSON: ${text}`;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function cut(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}...` : text;
}
