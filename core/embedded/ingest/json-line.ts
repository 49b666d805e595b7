import { parseTime } from '../http/time-arg.js';
import { flattenJson } from './json-flatten.js';
import type { RowSink } from './row-sink.js';

/** Lines over this size are left out (`-insert.maxLineSizeBytes`). */
const MAX_LINE_CHARS = 256 * 1024;

/** Where the parts of a row stand in a JSON line. */
export interface JsonLineOptions {
  readonly streamFields: readonly string[];
  /** Candidates in order of preference. */
  readonly msgFields: readonly string[];
  readonly timeField: string;
  readonly ignoreFields: readonly string[];
  readonly extraFields: readonly (readonly [string, string])[];
}

/**
 * Stores one JSON line (docs/protocol/victorialogs.md#ingestion). Lines that are no JSON object, are too long or carry an
 * unreadable time are left out and counted. False when the store is full.
 */
export function ingestJsonLine(
  line: string,
  options: JsonLineOptions,
  sink: RowSink,
  nowNs: bigint,
): boolean {
  if (line.trim() === '') return true;
  const fields = line.length > MAX_LINE_CHARS ? undefined : flattenJson(line);
  if (fields === undefined) {
    sink.counts.dropped++;
    return true;
  }
  const timeText = fields.get(options.timeField) ?? '';
  fields.delete(options.timeField);
  const timeNs = timeText === '' || timeText === '0' ? nowNs : parseTime(timeText, nowNs);
  if (timeNs === undefined) {
    sink.counts.dropped++;
    return true;
  }
  const unnamed = fields.get('');
  if (unnamed !== undefined) {
    fields.delete('');
    if (!fields.has('_msg')) fields.set('_msg', unnamed);
  }
  for (const name of options.msgFields) {
    const message = fields.get(name) ?? '';
    if (message === '') continue;
    fields.delete(name);
    fields.set('_msg', message);
    break;
  }
  for (const name of options.ignoreFields) fields.delete(name);
  for (const [name, value] of options.extraFields) fields.set(name, value);
  const stream = sink.streamOf(options.streamFields.map((name) => [name, fields.get(name) ?? ''] as const));
  return sink.add(stream, timeNs, fields);
}
