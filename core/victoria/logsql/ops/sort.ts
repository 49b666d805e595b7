import { timeOrder } from '../../../base/order.js';
import type { SortPipe } from '../ast.js';
import { timeOf } from '../eval/filter.js';
import type { RowView } from '../row.js';
import { emitAll, limitOf, rowOverhead, textSize, type Operator, type PipeBudget } from './operator.js';

/** Bytes that count for a held row, with the digits of its time. */
const heldBytes = rowOverhead + textSize('1700000000000000000');

/** `sort` by time. The sort is stable, and not many more rows than the wanted ones are held. */
export function sortOperator(pipe: SortPipe, budget: PipeBudget, next: Operator): Operator {
  const limit = limitOf(pipe.limit);
  const sign = pipe.desc ? -1 : 1;
  const held: { readonly row: RowView; readonly ns: bigint }[] = [];
  const cut = (): void => {
    held.sort((a, b) => sign * timeOrder(a.ns, b.ns));
    budget.release(held.splice(limit).length * heldBytes);
  };
  return {
    push(row) {
      budget.add(heldBytes);
      held.push({ row, ns: timeOf(row) ?? 0n });
      if (held.length > 2 * limit + 256) cut();
      return true;
    },
    finish() {
      cut();
      emitAll(
        held.map(({ row }) => row),
        next,
      );
    },
  };
}
