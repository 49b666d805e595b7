import { ofKey } from '../../../../core/base/memory/byte-lru.js';
import { compareGoStrings } from '../../../../core/logql/values/raw-bytes.js';
import type { FieldNamesPipe } from '../../../../core/victoria/logsql/ast.js';
import { compareValues } from '../../../../core/victoria/logsql/eval/compare.js';
import { groupedValue } from '../../../../core/victoria/logsql/numbers.js';
import {
  emitAll,
  textSize,
  type Operator,
  type PipeBudget,
} from '../../../../core/victoria/logsql/ops/operator.js';
import { rowOf } from '../../../../core/victoria/logsql/ops/shape.js';
import { groupRow, ValueGroups, type ValueGroup } from '../../../../core/victoria/logsql/ops/uniq.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import type { FacetsPipe, TopPipe } from '../ast.js';

/** `top`: the groups with the most rows; ties are sorted by value. */
export function topOperator(pipe: TopPipe, budget: PipeBudget, next: Operator): Operator {
  const groups = new ValueGroups(pipe.by, budget);
  return {
    push(row) {
      groups.add(row);
      return true;
    },
    finish() {
      const best = groups.all().sort(compareGroups).slice(0, pipe.count);
      const rows = best.map((group, index) => {
        const fields = groupRow(pipe.by, group);
        fields.set(pipe.hitsAs, group.hits.toString());
        if (pipe.rankAs !== undefined) fields.set(pipe.rankAs, (index + 1).toString());
        return rowOf(fields);
      });
      emitAll(rows, next);
    },
  };
}

function compareGroups(a: ValueGroup, b: ValueGroup): number {
  if (a.hits !== b.hits) return b.hits - a.hits;
  for (const [i, value] of a.values.entries()) {
    const order = compareValues(value, b.values[i] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

/** `field_names`: every field with the number of rows that have a value in it. */
export function fieldNamesOperator(pipe: FieldNamesPipe, budget: PipeBudget, next: Operator): Operator {
  const hits = new Map<string, number>();
  const hitsName = pipe.as === 'hits' ? 'hitss' : 'hits';
  return {
    push(row) {
      for (const name of row.fieldNames()) {
        if (row.get(name) === '') continue;
        const known = hits.get(name);
        if (known === undefined) budget.add(64 + textSize(name));
        hits.set(name, (known ?? 0) + 1);
      }
      return true;
    },
    finish() {
      const sorted = [...hits].sort(([a], [b]) => compareGoStrings(a, b));
      emitAll(
        sorted.map(([name, count]) =>
          rowOf(
            new Map([
              [pipe.as, name],
              [hitsName, count.toString()],
            ]),
          ),
        ),
        next,
      );
    },
  };
}

interface Facet {
  readonly values: Map<string, number>;
  ignored: boolean;
}

/** `facets`: the most frequent values per field, without constant fields and fields with too many or too long values. */
export function facetsOperator(pipe: FacetsPipe, budget: PipeBudget, next: Operator): Operator {
  const facets = new Map<string, Facet>();
  const maxValues = pipe.maxValuesPerField ?? 1000;
  const maxLength = pipe.maxValueLength ?? 128;
  let rowsTotal = 0;
  const add = (name: string, value: string): void => {
    const facet = ofKey(facets, name, (): Facet => ({ values: new Map(), ignored: false }));
    if (facet.ignored) return;
    const count = facet.values.get(value) ?? 0;
    facet.values.set(value, count + 1);
    if (count === 0) budget.add(64 + textSize(value));
    if (facet.values.size > maxValues || Buffer.byteLength(value) > maxLength) {
      facet.ignored = true;
      facet.values.clear();
    }
  };
  return {
    push(row) {
      rowsTotal++;
      for (const name of row.fieldNames()) {
        const value = row.get(name);
        if (value !== '') add(name, groupedValue(value));
      }
      return true;
    },
    finish() {
      const rows: RowView[] = [];
      for (const [name, { values, ignored }] of [...facets].sort(([a], [b]) => compareGoStrings(a, b))) {
        const [only] = values.values();
        if (ignored || (values.size === 1 && only === rowsTotal && !pipe.keepConst)) continue;
        const best = [...values]
          .sort((a, b) => b[1] - a[1] || compareValues(a[0], b[0]))
          .slice(0, pipe.limit ?? 10);
        for (const [value, hits] of best) {
          rows.push(
            rowOf(
              new Map([
                ['field_name', name],
                ['field_value', value],
                ['hits', hits.toString()],
              ]),
            ),
          );
        }
      }
      emitAll(rows, next);
    },
  };
}
