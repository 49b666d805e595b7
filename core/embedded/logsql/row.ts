/** What the evaluator reads of a log row. Names are plain text; `_time` is also reachable as a field, as RFC3339 text. */
export interface RowView {
  /** Unix nanoseconds; 0n for rows that carry no time, such as results of `stats`. */
  readonly timeNs: bigint;
  /** The value of a field, '' when the row has none (empty and missing are the same). */
  get(field: string): string;
  /** Names of the fields the row has, `_time`, `_stream` and `_stream_id` included; in the order in which they are to be shown. */
  fieldNames(): Iterable<string>;
}

/** A row made of a map; what pipes produce, and the simplest row for tests. */
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

  /** The fields themselves, not to be changed. */
  get fields(): ReadonlyMap<string, string> {
    return this.#fields;
  }
}

/** Copies a row into a map that the caller may change. */
export function fieldsOf(row: RowView): Map<string, string> {
  if (row instanceof MapRow) return new Map(row.fields);
  const fields = new Map<string, string>();
  for (const name of row.fieldNames()) fields.set(name, row.get(name));
  return fields;
}
