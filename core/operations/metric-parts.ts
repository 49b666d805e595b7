/** Parts of a metric query that the rest of the chain answers as queries of their own, and their answers as rows. */
import type { LabelSet } from '../base/label-set.js';
import { eachAtPace, type Pacer } from '../base/pace/steps.js';
import { bySum } from '../logql/functions/join.js';
import type { MetricExpr } from '../logql/index.js';
import { emptyRow, firstMs, type Columns, type Leaf, type SeriesRow } from '../logql/metric/index.js';
import type { Point } from '../logql/metric/work.js';
import type { Answer } from '../wire/answer/types.js';

/** A leaf as a query of its own; labels in `without` are added to its answer later. */
export function leafExpr({ range, pushed }: Pick<Leaf, 'range' | 'pushed'>, without?: string): MetricExpr {
  if (pushed === undefined) return range;
  const labels = pushed.labels.filter((name) => name !== without);
  return {
    kind: 'vector-aggregation',
    op: bySum.op,
    parameter: undefined,
    grouping: { ...pushed, labels },
    expr: range,
    span: range.span,
  };
}

/** The series of an answer, aligned to the columns of a query. */
export async function rowsOfAnswer(
  answer: Answer,
  columns: Columns,
  pacer: Pacer,
): Promise<readonly SeriesRow[]> {
  const rows: SeriesRow[] = [];
  const add = (labels: LabelSet, points: readonly Point[], columnOf: (point: Point) => number): void => {
    const row = emptyRow(labels, columns.count);
    for (const point of points) {
      const column = columnOf(point);
      row.values[column] = point.value;
      row.present[column] = 1;
    }
    rows.push(row);
  };
  switch (answer.kind) {
    case 'matrix': {
      const [start, { stepMs }] = [firstMs(columns), columns];
      const columnOf = ({ timestampMs }: Point): number =>
        stepMs === 0 ? 0 : (timestampMs - start) / stepMs;
      await eachAtPace(answer.series, pacer, ({ labels, points }) => add(labels, points, columnOf));
      return rows;
    }
    case 'vector':
      await eachAtPace(answer.samples, pacer, ({ labels, point }) => add(labels, [point], () => 0));
      return rows;
    default:
      throw new Error(`a part of a metric query was answered with ${answer.kind}`);
  }
}
