import { isListed } from '../../../../core/victoria/logsql/build.js';
import { mapRows, type Operator } from '../../../../core/victoria/logsql/ops/operator.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import type { DeletePipe, OffsetPipe } from '../ast.js';

/** A row without some of its columns. */
class TrimmedRow implements RowView {
  readonly timeNs: bigint;
  readonly #base: RowView;
  readonly #gone: (name: string) => boolean;

  constructor(base: RowView, gone: (name: string) => boolean) {
    this.#base = base;
    this.#gone = gone;
    this.timeNs = gone('_time') ? 0n : base.timeNs;
  }

  get(field: string): string {
    return this.#gone(field) ? '' : this.#base.get(field);
  }

  *fieldNames(): Generator<string> {
    for (const name of this.#base.fieldNames()) if (!this.#gone(name)) yield name;
  }
}

/** `delete`. */
export function deleteOperator({ fields }: DeletePipe, next: Operator): Operator {
  const gone = (name: string): boolean => isListed(fields, name);
  return mapRows((row) => new TrimmedRow(row, gone), next);
}

/** `drop_empty_fields`; rows without any fields are dropped. */
export function dropEmptyOperator(next: Operator): Operator {
  return mapRows((row) => {
    let any = false;
    for (const name of row.fieldNames()) any ||= row.get(name) !== '';
    return any ? new TrimmedRow(row, (name) => row.get(name) === '') : undefined;
  }, next);
}

/** `offset`. */
export function offsetOperator(pipe: OffsetPipe, next: Operator): Operator {
  let left = pipe.count;
  return {
    push(row) {
      if (left === 0) return next.push(row);
      left--;
      return true;
    },
    finish: () => next.finish(),
  };
}
