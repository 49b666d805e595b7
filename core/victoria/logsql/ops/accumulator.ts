import type { FieldRef } from '../ast.js';
import type { RowView } from '../row.js';
import { isListed } from '../build.js';

/** The running result of one function over the rows of one group. */
export interface Accumulator {
  add(row: RowView): void;
  result(): string;
}

/** Passes on the values of a function's fields, empty ones included. */
export type ValuesReader = (row: RowView, take: (value: string) => void) => void;

/** Compiles the field list of a function. */
export function valuesReader(fields: readonly FieldRef[]): ValuesReader {
  const [first] = fields;
  if (fields.length === 1 && first?.kind === 'name') {
    const { name } = first;
    return (row, take) => take(row.get(name));
  }
  if (fields.every((field) => field.kind === 'name')) {
    return (row, take) => {
      for (const { name } of fields) take(row.get(name));
    };
  }
  return (row, take) => {
    for (const name of row.fieldNames()) if (isListed(fields, name)) take(row.get(name));
  };
}
