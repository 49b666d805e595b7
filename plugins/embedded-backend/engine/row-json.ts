import { ofKey } from '../../../core/base/memory/byte-lru.js';
import { formatTime, type RowView } from '../logsql/index.js';
import type { RowLayout } from '../store/row-layout.js';
import type { Stream } from '../store/stream.js';
import { rowNames, StoredRow } from './stored-row.js';

/**
 * A template for rows of one stream and layout: constant text, the value at an index of the row (or its time, index -1), constant text, and
 * so on. Names and stream fields are quoted once, not once per row.
 */
interface Template {
  readonly texts: readonly string[];
  readonly positions: readonly number[];
}

const templates = new WeakMap<Stream, Map<RowLayout, Template>>();
const quotedNames = new Map<string, string>();
const MAX_NAMES = 10_000;

/** One NDJSON line; empty fields are left out, and a row without fields gives an empty text. */
export function rowJson(row: RowView): string {
  if (row instanceof StoredRow) return storedJson(row);
  let line = '';
  for (const name of row.fieldNames()) {
    const value = row.get(name);
    if (value === '') continue;
    line += `${line === '' ? '{' : ','}${quotedName(name)}:${JSON.stringify(value)}`;
  }
  return line === '' ? '' : `${line}}\n`;
}

function storedJson(row: StoredRow): string {
  const { texts, positions } = templateOf(row.stream, row.layout);
  let line = texts[0] ?? '';
  for (let i = 0; i < positions.length; i++) {
    const at = positions[i] ?? 0;
    line += at < 0 ? `"${formatTime(row.timeNs)}"` : JSON.stringify(row.values[at]);
    line += texts[i + 1] ?? '';
  }
  return line;
}

function templateOf(stream: Stream, layout: RowLayout): Template {
  const byLayout = ofKey(templates, stream, () => new Map<RowLayout, Template>());
  return ofKey(byLayout, layout, () => makeTemplate(stream, layout));
}

function makeTemplate(stream: Stream, layout: RowLayout): Template {
  const texts: string[] = [];
  const positions: number[] = [];
  let text = '{';
  for (const [i, name] of rowNames(stream, layout).entries()) {
    text += `${i === 0 ? '' : ','}${JSON.stringify(name)}:`;
    const at = name === '_time' ? -1 : layout.index.get(name);
    if (at === undefined) {
      const value =
        name === '_stream' ? stream.text : name === '_stream_id' ? stream.id : stream.tags.get(name);
      text += JSON.stringify(value ?? '');
      continue;
    }
    texts.push(text);
    positions.push(at);
    text = '';
  }
  texts.push(`${text}}\n`);
  return { texts, positions };
}

function quotedName(name: string): string {
  let quoted = quotedNames.get(name);
  if (quoted === undefined) {
    quoted = JSON.stringify(name);
    // Clients choose the names; above the limit they are quoted again each time.
    if (quotedNames.size < MAX_NAMES) quotedNames.set(name, quoted);
  }
  return quoted;
}
