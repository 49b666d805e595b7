/** A log row as the evaluator reads it. Names are plain text; `_time` is also available as a field, as RFC3339 text. */
export interface RowView {
  /** Unix nanoseconds; 0n for rows without a time, such as results of `stats`. */
  readonly timeNs: bigint;
  /** The value of a field, '' when the row has none (empty and missing are the same). */
  get(field: string): string;
  /** Names of the row's fields, including `_time`, `_stream` and `_stream_id`, in display order. */
  fieldNames(): Iterable<string>;
}

/** A row made from a map, as pipes produce; also the simplest row for tests. */
export class MapRow implements RowView {
  readonly timeNs: bigint;
  readonly #fields: ReadonlyMap<string, string>;

  constructor(fields: ReadonlyMap<string, string>, timeNs = 0n) {
    this.#fields = fields;
    this.timeNs = timeNs;
  }

  get(field: string): string {
    return this.#fields.get(field) ?? '';
  }

  fieldNames(): Iterable<string> {
    return this.#fields.keys();
  }

  /** The fields themselves, which must not be changed. */
  get fields(): ReadonlyMap<string, string> {
    return this.#fields;
  }
}

/** Copies a row into a map that the caller may change. */
export function copyFields(row: RowView): Map<string, string> {
  if (row instanceof MapRow) return new Map(row.fields);
  const fields = new Map<string, string>();
  for (const name of row.fieldNames()) fields.set(name, row.get(name));
  return fields;
}
