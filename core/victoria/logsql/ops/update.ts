import { compileFilter } from '../eval/filter.js';
import type { RowTest } from '../eval/filter.js';
import type { LogsqlFilter, ReplacePipe, UpdateRules } from '../ast.js';
import type { RowView } from '../row.js';
import { OverlayRow } from './derived-row.js';
import { mapRows } from './operator.js';
import type { Operator, PipeContext } from './operator.js';

/** Compiles the `if (...)` of a pipe; without one, every row matches. */
export function compileCondition(condition: LogsqlFilter | undefined, context: PipeContext): RowTest {
  return condition === undefined ? () => true : compileFilter(condition, context);
}

/**
 * An operator that computes new columns of a row; for a repeated column the last entry wins.
 * @param rules without a condition it applies to all rows, without a rule it overwrites columns
 */
export function updateOperator(
  { condition, rule }: Partial<UpdateRules>,
  context: PipeContext,
  compute: (row: RowView) => readonly (readonly [string, string])[],
  next: Operator,
): Operator {
  const applies = compileCondition(condition, context);
  return mapRows((row) => {
    if (!applies(row)) return row;
    const changes = new Map<string, string>();
    for (const [name, value] of compute(row)) {
      if (rule === 'skip-empty' && value === '') continue;
      if (rule === 'keep-original' && row.get(name) !== '') continue;
      changes.set(name, value);
    }
    return changes.size === 0 ? row : new OverlayRow(row, changes);
  }, next);
}

/** `replace`. */
export function replaceOperator(pipe: ReplacePipe, context: PipeContext, next: Operator): Operator {
  const { at, old, replacement } = pipe;
  const compute = (row: RowView): [string, string][] => [
    [at, row.get(at).replaceAll(old, () => replacement)],
  ];
  return updateOperator(pipe, context, compute, next);
}
