import { readFileSync } from 'node:fs';
import { MapRow, parseDate } from '../../../../plugins/embedded-backend/logsql/index.js';

const streamFields = ['app', 'env', 'instance', 'service.name'];
const noMessage =
  'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';

/** A recorded exchange with VictoriaLogs. */
export interface Recording {
  readonly id: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly compare: string;
  readonly status: number;
  readonly body: string;
}

function readLines(name: string): string[] {
  return readFileSync(`test/data/backend/${name}`, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

export function readRecordings(): Recording[] {
  // The recorder writes the file in this layout.
  return readLines('backend-golden.jsonl').map((line) => JSON.parse(line) as Recording);
}

/** The recorded rows as the store shows them, without `_stream_id`, which depends on its hash. */
export function readRows(): MapRow[] {
  return readLines('backend-data.jsonl').map((line) =>
    storedRow(JSON.parse(line) as Record<string, unknown>),
  );
}

function storedRow(source: Record<string, unknown>): MapRow {
  const fields = new Map<string, string>();
  flatten(fields, '', source);
  for (const [name, value] of fields) if (value === '') fields.delete(name);
  if (!fields.has('_msg')) fields.set('_msg', noMessage);
  const labels = streamFields
    .filter((name) => fields.has(name))
    .map((name) => `${name}=${JSON.stringify(fields.get(name))}`);
  fields.set('_stream', `{${labels.join(',')}}`);
  const ns = parseDate(fields.get('_time') ?? '')?.ns ?? 0n;
  fields.set(
    '_time',
    (fields.get('_time') ?? '').replace(/\.?0+Z$/, (zeros) => (zeros.startsWith('.') ? 'Z' : zeros)),
  );
  const time = fields.get('_time') ?? '';
  fields.set('_time', time.includes('.') ? time.replace(/0+Z$/, 'Z') : time);
  return new MapRow(new Map([...fields].sort(([a], [b]) => (a < b ? -1 : 1))), ns);
}

function flatten(fields: Map<string, string>, name: string, value: unknown): void {
  if (value === null || value === undefined) return;
  if (typeof value === 'object' && !Array.isArray(value)) {
    for (const [key, member] of Object.entries(value))
      flatten(fields, name === '' ? key : `${name}.${key}`, member);
    return;
  }
  fields.set(name, typeof value === 'string' ? value : JSON.stringify(value));
}
