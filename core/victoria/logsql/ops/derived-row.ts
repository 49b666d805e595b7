import type { FieldRef } from '../ast.js';
import { isListed } from '../build.js';
import type { RowView } from '../row.js';
import { parseDate } from '../literals.js';

/** The time in a `_time` column, 0n for none. */
export function timeNsOf(text: string): bigint {
  return text === '' ? 0n : (parseDate(text)?.ns ?? 0n);
}

/** A row with some columns replaced; the others come from the original row. */
export class OverlayRow implements RowView {
  readonly timeNs: bigint;
  readonly #base: RowView;
  readonly #changes: ReadonlyMap<string, string>;

  constructor(base: RowView, changes: ReadonlyMap<string, string>) {
    this.#base = base;
    this.#changes = changes;
    const time = changes.get('_time');
    this.timeNs = time === undefined ? base.timeNs : timeNsOf(time);
  }

  get(field: string): string {
    return this.#changes.get(field) ?? this.#base.get(field);
  }

  *fieldNames(): Generator<string> {
    yield* new Set([...this.#base.fieldNames(), ...this.#changes.keys()]);
  }
}

/** A row with only the listed columns, in the order of the list. */
export class ProjectedRow implements RowView {
  readonly timeNs: bigint;
  readonly #base: RowView;
  readonly #fields: readonly FieldRef[];

  constructor(base: RowView, fields: readonly FieldRef[]) {
    this.#base = base;
    this.#fields = fields;
    this.timeNs = isListed(fields, '_time') ? base.timeNs : 0n;
  }

  get(field: string): string {
    return isListed(this.#fields, field) ? this.#base.get(field) : '';
  }

  *fieldNames(): Generator<string> {
    const seen = new Set<string>();
    for (const field of this.#fields) {
      const names =
        field.kind === 'name'
          ? [field.name]
          : [...this.#base.fieldNames()].filter((name) => name.startsWith(field.prefix));
      for (const name of names) {
        if (seen.has(name)) continue;
        seen.add(name);
        yield name;
      }
    }
  }
}
