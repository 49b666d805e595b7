import type { FacetsPipe, FieldNamesPipe, FieldValuesPipe, TopPipe, UniqPipe } from '../ast.js';
import { compareGoStrings } from '../../../logql/values/raw-bytes.js';
import { compareValues } from '../eval/compare.js';
import { groupedValue } from '../numbers.js';
import { printPipe } from '../print.js';
import type { RowView } from '../row.js';
import { PipeBudget, emitAll, limitOf, textSize } from './operator.js';
import type { Operator, PipeContext } from './operator.js';
import { rowOf } from './shape.js';

interface Group {
  readonly values: readonly string[];
  hits: number;
}

/** Counts rows by the values of some fields; integers with `_` are grouped without it. */
class Groups {
  readonly #by: readonly string[];
  readonly #budget: PipeBudget;
  readonly #groups = new Map<string, Group>();

  constructor(by: readonly string[], budget: PipeBudget) {
    this.#by = by;
    this.#budget = budget;
  }

  get size(): number {
    return this.#groups.size;
  }

  add(row: RowView): void {
    const values = this.#by.map((name) => groupedValue(row.get(name)));
    const key = values.length === 1 ? (values[0] ?? '') : JSON.stringify(values);
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.hits++;
      return;
    }
    this.#budget.add(128 + textSize(key) * 2);
    this.#groups.set(key, { values, hits: 1 });
  }

  all(): Group[] {
    return [...this.#groups.values()];
  }
}

function groupRow(by: readonly string[], group: Group): Map<string, string> {
  return new Map(by.map((name, i) => [name, group.values[i] ?? '']));
}

/** `uniq`. When the limit cuts the groups, their row counts are unknown and shown as 0. */
export function uniqOperator(pipe: UniqPipe, context: PipeContext, next: Operator): Operator {
  const groups = new Groups(pipe.by, new PipeBudget(() => printPipe(pipe), context));
  const limit = limitOf(pipe.limit);
  let hitsName = 'hits';
  while (pipe.by.includes(hitsName)) hitsName += 's';
  return {
    push(row) {
      groups.add(row);
      return groups.size <= limit;
    },
    finish() {
      const cut = groups.size > limit;
      const rows = groups
        .all()
        .slice(0, limit)
        .map((group) => {
          const fields = groupRow(pipe.by, group);
          if (pipe.hits) fields.set(hitsName, cut ? '0' : group.hits.toString());
          return rowOf(fields);
        });
      emitAll(rows, next);
    },
  };
}

/** `field_values f`: a column named after the field, and `hits`. */
export function fieldValuesOperator(pipe: FieldValuesPipe, context: PipeContext, next: Operator): Operator {
  return uniqOperator(
    {
      kind: 'uniq',
      by: [pipe.field],
      hits: true,
      ...(pipe.limit === undefined ? {} : { limit: pipe.limit }),
    },
    context,
    next,
  );
}

/** `top`: the groups with the most rows; ties are sorted by value. */
export function topOperator(pipe: TopPipe, context: PipeContext, next: Operator): Operator {
  const groups = new Groups(pipe.by, new PipeBudget(() => printPipe(pipe), context));
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

function compareGroups(a: Group, b: Group): number {
  if (a.hits !== b.hits) return b.hits - a.hits;
  for (const [i, value] of a.values.entries()) {
    const order = compareValues(value, b.values[i] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

/** `field_names`: every field with the number of rows that have a value in it. */
export function fieldNamesOperator(pipe: FieldNamesPipe, context: PipeContext, next: Operator): Operator {
  const budget = new PipeBudget(() => printPipe(pipe), context);
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
export function facetsOperator(pipe: FacetsPipe, context: PipeContext, next: Operator): Operator {
  const budget = new PipeBudget(() => printPipe(pipe), context);
  const facets = new Map<string, Facet>();
  const maxValues = pipe.maxValuesPerField ?? 1000;
  const maxLength = pipe.maxValueLength ?? 128;
  let rowsTotal = 0;
  const add = (name: string, value: string): void => {
    let facet = facets.get(name);
    if (facet === undefined) {
      facet = { values: new Map(), ignored: false };
      facets.set(name, facet);
    }
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
