import { compileFilter } from '../eval/filter.js';
import type { RowTest } from '../eval/filter.js';
import type { LogsqlFilter, ReplacePipe } from '../ast.js';
import type { RowView } from '../row.js';
import { OverlayRow } from './derived-row.js';
import { mapRows } from './operator.js';
import type { Operator, PipeContext } from './operator.js';

/** Compiles the `if (...)` of a pipe; without one, every row matches. */
export function compileCondition(condition: LogsqlFilter | undefined, context: PipeContext): RowTest {
  return condition === undefined ? () => true : compileFilter(condition, context);
}

/** Columns with their values. */
export type Columns = readonly (readonly [name: string, value: string])[];

/** Computes new columns of a row; for a repeated column the last entry wins. */
export type ColumnsMaker = (row: RowView) => Columns;

/** An operator that writes new columns into all rows, or into those that match the condition. */
export function updateOperator(
  { condition }: { readonly condition?: LogsqlFilter },
  context: PipeContext,
  columnsOf: ColumnsMaker,
  next: Operator,
): Operator {
  const applies = compileCondition(condition, context);
  return mapRows((row) => {
    const changes = new Map(applies(row) ? columnsOf(row) : []);
    return changes.size === 0 ? row : new OverlayRow(row, changes);
  }, next);
}

/** `replace`. */
export function replacer({ at, old, replacement }: ReplacePipe): ColumnsMaker {
  return (row) => [[at, row.get(at).replaceAll(old, () => replacement)]];
}
