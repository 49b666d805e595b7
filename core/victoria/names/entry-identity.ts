import { hash } from 'node:crypto';
import { columnOf, type BackendRow } from '../upstream/types.js';
import { type LogRow, parseRowTime } from './row-reader.js';
import { shownValue } from './shown-value.js';

/**
 * The identity of an entry at one timestamp. Rows with equal timestamp, stream, line and structured metadata, as clients see them, are the
 * same entry, of which Loki keeps one.
 */
export type Identified = Pick<LogRow, 'stream' | 'line' | 'structuredMetadata'>;

/** A key that two rows of one timestamp share exactly if they are the same entry. */
export function entryIdentity({ stream, line, structuredMetadata }: Identified): string {
  // The keys of label sets include their lengths and the line comes last, so distinct entries have distinct texts.
  return `${stream.labels.key}\n${structuredMetadata.key}\n${line}`;
}

/** True if two rows of one timestamp are the same entry. */
export function isSameEntry(one: Identified, other: Identified): boolean {
  // Most rows of one timestamp differ in their lines, and keys of label sets must be built first.
  return (
    one.line === other.line &&
    one.stream.labels.key === other.stream.labels.key &&
    one.structuredMetadata.key === other.structuredMetadata.key
  );
}

/**
 * A digest of all columns of a row, including time and stream. Rows with the same columns and the same digest are the same entry. The
 * backend's stream id is left out, since it follows from the stream, and so are differences in how equal values are stored.
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
