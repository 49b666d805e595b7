import { ofKey } from '../../../core/base/memory/byte-lru.js';
import { formatTime } from '../logsql/index.js';
import type { FieldRef } from '../../../core/victoria/logsql/ast.js';
import { isListed } from '../../../core/victoria/logsql/build.js';
import { OverlayRow } from '../../../core/victoria/logsql/ops/derived-row.js';
import type { RowView } from '../../../core/victoria/logsql/row.js';
import type { BlockView } from '../store/block.js';
import type { RowLayout } from '../store/row-layout.js';
import type { Stream } from '../store/stream.js';

const namesByStream = new WeakMap<Stream, Map<RowLayout, readonly string[]>>();

/** Names of all fields a row of this stream and layout has, sorted: the order in which the server shows stored rows. */
export function rowNames(stream: Stream, layout: RowLayout): readonly string[] {
  const byLayout = ofKey(namesByStream, stream, () => new Map<RowLayout, readonly string[]>());
  return ofKey(byLayout, layout, () => {
    const own = new Set(['_time', '_stream', '_stream_id', ...stream.tags.keys(), ...layout.names]);
    return [...own].sort();
  });
}

/** A row of the store. It stays valid as long as it is referenced, whatever happens to the store. */
export class StoredRow implements RowView {
  readonly timeNs: bigint;
  readonly stream: Stream;
  /** Names of its own fields, excluding those with the value of its stream, and their values. */
  readonly layout: RowLayout;
  readonly values: readonly string[];

  constructor(stream: Stream, timeNs: bigint, layout: RowLayout, values: readonly string[]) {
    this.stream = stream;
    this.timeNs = timeNs;
    this.layout = layout;
    this.values = values;
  }

  get(field: string): string {
    const at = this.layout.index.get(field);
    if (at !== undefined) return this.values[at] ?? '';
    if (field === '_time') return formatTime(this.timeNs);
    if (field === '_stream') return this.stream.text;
    if (field === '_stream_id') return this.stream.id;
    return this.stream.tags.get(field) ?? '';
  }

  fieldNames(): readonly string[] {
    return rowNames(this.stream, this.layout);
  }
}

/** Row `i` of a block. */
export function rowAt(stream: Stream, view: BlockView, i: number): StoredRow | undefined {
  const layout = view.layouts[i];
  const values = view.values[i];
  if (layout === undefined || values === undefined) return undefined;
  return new StoredRow(stream, view.times[i] ?? 0n, layout, values);
}

/** A row with a shifted time: `options(time_offset=1h)` shows old data as if it had happened an hour later. */
export function shifted(row: RowView, shiftNs: bigint): RowView {
  return new OverlayRow(row, new Map([['_time', formatTime(row.timeNs + shiftNs)]]));
}

/** A row with hidden fields (`hidden_fields_filters`), which appear to be missing. */
export class HidingRow implements RowView {
  readonly timeNs: bigint;
  readonly #row: RowView;
  readonly #hidden: readonly FieldRef[];

  constructor(row: RowView, hidden: readonly FieldRef[]) {
    this.timeNs = row.timeNs;
    this.#row = row;
    this.#hidden = hidden;
  }

  get(field: string): string {
    return isListed(this.#hidden, field) ? '' : this.#row.get(field);
  }

  *fieldNames(): Generator<string> {
    for (const name of this.#row.fieldNames()) {
      // Listings still include the built-in fields, which then read as empty.
      if (name === '_stream' || name === '_stream_id' || !isListed(this.#hidden, name)) yield name;
    }
  }
}
