import { missingMessage, type Labels, type Row, type Source } from './rows.js';

/** A request that inserts rows into the backend. */
export interface Insertion {
  /** Includes the query parameters. */
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
}

/** The request that inserts the given rows of a source. */
export function insertionOf(source: Source, rows: readonly Row[]): Insertion {
  const { door, streamFields } = source;
  if (door === 'push' || door === 'parsed')
    return {
      path: `/insert/loki/api/v1/push${door === 'push' ? '?disable_message_parsing=1' : ''}`,
      contentType: 'application/json',
      body: JSON.stringify({ streams: [{ stream: streamFields, values: rows.map(valuesOf) }] }),
    };
  const names = Object.keys(streamFields).map(encodeURIComponent).join(',');
  return {
    path: `/insert/jsonline?_stream_fields=${names}`,
    contentType: 'application/stream+json',
    body: rows.map((row) => `${jsonLine(row, streamFields)}\n`).join(''),
  };
}

/** The stored fields of a row, if the backend keeps everything. */
export function storedRow({ streamFields }: Source, { message, fields }: Row): Labels {
  const all = { ...streamFields, ...fields, _msg: message === undefined || message === '' ? missingMessage : message };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

/** The line of a row without a message is its fields as JSON, except the trace id, which collectors send as structured metadata. */
function valuesOf({ ns, message, fields }: Row): readonly [string, string, Labels] {
  if (message !== undefined) return [String(ns), message, fields];
  const { trace_id: trace, ...others } = fields;
  return [String(ns), nestedJson(Object.entries(others)), trace === undefined ? {} : { trace_id: trace }];
}

function jsonLine({ ns, message, fields }: Row, streamFields: Labels): string {
  const own = [['_time', rfc3339(ns)] as const, ...(message === undefined ? [] : [['_msg', message] as const])];
  const pairs = [...own, ...Object.entries(streamFields)].map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{${[...pairs, ...nestedMembers(Object.entries(fields))].join(',')}}`;
}

function rfc3339(ns: bigint): string {
  const seconds = new Date(Number(ns / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(ns % 1_000_000_000n).padStart(9, '0')}Z`;
}

type Pair = readonly [name: string, value: string];

/** Fields with dots in their names as nested objects. */
function nestedJson(pairs: readonly Pair[]): string {
  return `{${nestedMembers(pairs).join(',')}}`;
}

function nestedMembers(pairs: readonly Pair[]): readonly string[] {
  const groups = new Map<string, Pair[]>();
  for (const [name, value] of pairs) {
    const dot = name.indexOf('.');
    const first = dot > 0 && dot < name.length - 1 ? name.slice(0, dot) : name;
    groups.set(first, [...(groups.get(first) ?? []), [name, value]]);
  }
  return [...groups].flatMap(([first, members]) => {
    // A full name may also be the first part of other names.
    if (members.some(([name]) => name === first))
      return members.map(([name, value]) => `${JSON.stringify(name)}:${scalar(value)}`);
    return [`${JSON.stringify(first)}:${nestedJson(members.map(([name, value]) => [name.slice(first.length + 1), value]))}`];
  });
}

const plainScalar = /^(?:true|false|0|-?[1-9]\d{0,14}|-?(?:0|[1-9]\d{0,5})\.\d{0,4}[1-9])$/;

/** Numbers and booleans as JSON values if that keeps their text unchanged. */
function scalar(text: string): string {
  return plainScalar.test(text) ? text : JSON.stringify(text);
}
