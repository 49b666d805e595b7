import type { FieldRef } from '../../../core/victoria/logsql/ast.js';
import { isListed } from '../../../core/victoria/logsql/build.js';
import { parseTime } from '../http/time-arg.js';
import { flattenLine } from './json-flatten.js';
import type { RowSink } from './row-sink.js';

/** Maximum length of a line; longer ones are dropped (`-insert.maxLineSizeBytes`). */
const MAX_LINE_CHARS = 256 * 1024;

/** JSON fields that contain the parts of a row. */
export interface JsonLineOptions {
  readonly streamFields: readonly string[];
  /** Candidates in order of preference. */
  readonly msgFields: readonly string[];
  readonly timeField: string;
  readonly ignoreFields: readonly FieldRef[];
  readonly extraFields: readonly (readonly [string, string])[];
}

/**
 * Stores one JSON line (docs/protocol/victorialogs.md#ingestion). Lines that are not a JSON object, are too long or have an invalid time
 * are dropped and counted. False if the store is full.
 */
export function ingestJsonLine(
  line: string,
  options: JsonLineOptions,
  sink: RowSink,
  nowNs: bigint,
): boolean {
  if (line.trim() === '') return true;
  const fields = line.length > MAX_LINE_CHARS ? undefined : flattenLine(line);
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
  for (const name of fields.keys()) if (isListed(options.ignoreFields, name)) fields.delete(name);
  for (const [name, value] of options.extraFields) fields.set(name, value);
  const stream = sink.streamOf(options.streamFields.map((name) => [name, fields.get(name) ?? ''] as const));
  return sink.add(stream, timeNs, fields);
}
