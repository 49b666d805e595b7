import { hash } from 'node:crypto';
import { columnOf, type BackendRow } from '../upstream/types.js';
import type { LogRow } from './row-reader.js';
import { parseRowTime } from './row-time.js';
import { shownValue } from './shown-value.js';

/** Rows of one time that have the same stream, line and structured metadata, as a client sees them, are one entry: Loki keeps one of them. */
export type Identified = Pick<LogRow, 'stream' | 'line' | 'structuredMetadata'>;

/** A text that is equal exactly for the rows of one time that are one entry. */
export function entryIdentity({ stream, line, structuredMetadata }: Identified): string {
  // The keys of label sets include their lengths and the line comes last, so distinct entries have distinct texts.
  return `${stream.labels.key}\n${structuredMetadata.key}\n${line}`;
}

/** True when two rows of one time are one entry. */
export function isSameEntry(one: Identified, other: Identified): boolean {
  // Most rows of one time differ in their lines, and keys of label sets have to be made first.
  return (
    one.line === other.line &&
    one.stream.labels.key === other.stream.labels.key &&
    one.structuredMetadata.key === other.structuredMetadata.key
  );
}

/**
 * A digest of all columns of a row, time and stream included: rows that have the same columns and the same digest are one entry. The number
 * that a backend gives to a stream follows from the stream, and the same value may be stored as different texts.
 */
export function digestOfColumns(row: BackendRow): string {
  let text = String(parseRowTime(row._time ?? ''));
  for (const name of Object.keys(row).sort()) {
    const stored = columnOf(row, name) ?? '';
    if (stored === '' || name === '_time' || name === '_stream_id') continue;
    const value = name === '_msg' || name === '_stream' ? stored : shownValue(stored);
    text += `\n${name.length} ${value.length} ${name}${value}`;
  }
  return hash('sha1', text, 'binary');
}
