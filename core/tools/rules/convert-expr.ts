import { doAll } from '../../base/pace/steps.js';
import type { Label } from '../../base/label-set.js';
import type { PlanSettings } from '../../engine/plan/checked-request.js';
import { readQuery } from '../../engine/plan/plan.js';
import { metricRules } from '../../engine/plan/rules/metric.js';
import type { Grouping, VectorAggregation } from '../../logql/ast.js';
import { rangeFunctions } from '../../logql/functions/range/index.js';
import type { Leaf, MetricTree } from '../../logql/metric/index.js';
import type { LogsqlPipe, LogsqlQuery, MathExpr } from '../../victoria/logsql/ast.js';
import { compare, exact, stats, statsFunction, where } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';
import type { Query } from '../../wire/api/request.js';
import { assemble, ColumnNames, type CountedRows, type Draft, withValue } from './draft.js';
import { combined, mathNumber, mathOperation, withNumber, withZero } from './draft-operations.js';
import { NotConvertible } from './not-convertible.js';
import { readFilterOf } from './read-filter.js';
import type { SeriesLabel, StoredLabels } from './stored-labels.js';

/**
 * A LogsQL query that gives, at any time of evaluation, the series that LogQL gives for the expression of a rule.
 * @throws NotConvertible if there is none
 * @throws LogqlError, ApiError for an expression that Loki rejects
 */
export function convertExpr(
  query: Query,
  naming: Naming,
  labels: StoredLabels,
  settings: PlanSettings,
): LogsqlQuery {
  const asked = doAll(readQuery(query, naming, settings, { kind: 'instant', splitMs: 0 }));
  if (asked.kind === 'logs')
    throw new NotConvertible('a rule needs a metric query, and this one selects lines');
  const names = namesIn(asked.tree);
  const columns = new ColumnNames([...names, ...names.flatMap((name) => labels.fieldsOf(name))]);
  return assemble(new Converter(labels, columns).draftOf(asked.tree), columns);
}

/** The names of labels of series, which columns must not have. */
function namesIn(tree: MetricTree<Leaf>): readonly string[] {
  switch (tree.kind) {
    case 'leaf':
      return [
        ...(tree.leaf.pushed?.labels ?? []),
        ...tree.leaf.range.range.query.selector.matchers.map(({ name }) => name),
      ];
    case 'aggregate':
      return [...(tree.node.grouping?.labels ?? []), ...namesIn(tree.of)];
    case 'label-replace':
      return namesIn(tree.of);
    case 'binary':
      return [...namesIn(tree.left), ...namesIn(tree.right)];
    case 'concat':
      return tree.parts.flatMap(namesIn);
    case 'vector':
    case 'literal':
      return [];
  }
}

/** Makes the draft of one expression; no two of its columns have the same name. */
class Converter {
  readonly #labels: StoredLabels;
  readonly #columns: ColumnNames;

  constructor(labels: StoredLabels, columns: ColumnNames) {
    this.#labels = labels;
    this.#columns = columns;
  }

  draftOf(tree: MetricTree<Leaf>): Draft {
    switch (tree.kind) {
      case 'leaf':
        return this.#leaf(tree.leaf);
      case 'aggregate':
        return this.#aggregate(tree.node, this.draftOf(tree.of));
      case 'binary':
        return this.#binary(tree);
      case 'label-replace':
        throw new NotConvertible('label_replace: LogsQL replaces text by other rules');
      case 'vector':
      case 'literal':
        throw new NotConvertible('a number or a vector by itself reads no logs');
      case 'concat':
        throw new Error('the parts of an expression are read as one');
    }
  }

  #leaf({ range, pushed }: Leaf): Draft {
    const { op, range: window } = range;
    const { ofLines, ofNothing, perSecondOf } = rangeFunctions[op];
    if (window.unwrap !== undefined || ofLines === undefined)
      throw new NotConvertible(`${op} of unwrapped values: ${unwrapReason}`);
    if (window.offsetNanoseconds < 0n)
      throw new NotConvertible('a negative offset reads rows behind the time of evaluation');
    const rows = this.#columns.take('lines');
    const counted: CountedRows = {
      ...readFilterOf(window.query, this.#labels),
      intervalNs: window.intervalNanoseconds,
      offsetNs: window.offsetNanoseconds,
      rows,
      bytes: ofLines === 'bytes' ? this.#columns.take('bytes') : undefined,
      present: compare(rows, '>', '0'),
    };
    if (ofNothing !== undefined) return absenceOf(counted, ofNothing(range).labels);
    if (pushed === undefined)
      throw new NotConvertible(
        `${op} without sum by (...) around it: each combination of labels, metadata and the level found in the line is a series`,
      );
    if (pushed.without)
      throw new NotConvertible(
        'sum without (...): the labels that remain are not known before the rows are read',
      );
    const total: MathExpr = { kind: 'field', name: counted.bytes ?? rows };
    const seconds = mathNumber(Number(window.intervalNanoseconds) / 1e9);
    const labels = this.#labelsOf(pushed);
    return {
      counted: [counted],
      rowLabels: labels,
      labels,
      pipes: [],
      conditions: [counted.present],
      value: perSecondOf === undefined ? total : mathOperation('/', total, seconds),
      isPositive: counted.bytes === undefined,
      startsAtZero: true,
    };
  }

  #labelsOf({ labels }: Grouping): readonly SeriesLabel[] {
    return [...new Set(labels)].map((label) => this.#labels.find(label));
  }

  #aggregate({ op, grouping }: VectorAggregation, draft: Draft): Draft {
    const name = sameInLogsql.find((known) => known === op);
    if (name === undefined) throw new NotConvertible(`${op}: LogsQL computes or orders it in another way`);
    const labels = draft.labels.filter(
      ({ label }) => grouping !== undefined && grouping.labels.includes(label) !== grouping.without,
    );
    const { pipes, column } = withValue(draft, this.#columns);
    const value = this.#columns.take('value');
    const isCount = name === 'count';
    // Without labels, the backend gives a value even if there are no series.
    const mayBeNone = labels.length === 0;
    const series = mayBeNone && !isCount ? this.#columns.take('series') : value;
    const functions = [
      isCount ? statsFunction('count', [], value) : statsFunction(name, [column], value),
      ...(series === value ? [] : [statsFunction('count', [], series)]),
    ];
    return {
      ...draft,
      labels,
      pipes: [
        ...pipes,
        stats(
          labels.map(({ field }) => field),
          ...functions,
        ),
      ],
      conditions: mayBeNone ? [compare(series, '>', '0')] : [],
      value: { kind: 'field', name: value },
      isPositive: draft.isPositive || isCount,
      startsAtZero: false,
    };
  }

  #binary({ node, left, right }: Extract<MetricTree<Leaf>, { readonly kind: 'binary' }>): Draft {
    const { op } = node;
    if (op === 'or' && right.kind === 'vector' && right.value === 0) return withZero(this.draftOf(left));
    if (left.kind === 'literal')
      return withNumber(node, this.draftOf(right), left.value, 'left', this.#columns);
    if (right.kind === 'literal')
      return withNumber(node, this.draftOf(left), right.value, 'right', this.#columns);
    return combined(node, this.draftOf(left), this.draftOf(right));
  }
}

/** Aggregations that LogsQL computes over the values of series as LogQL does. */
const sameInLogsql = ['sum', 'avg', 'min', 'max', 'count'] as const;

const unwrapReason = metricRules.find(({ id }) => id === 'metricUnwrap')?.reason ?? '';

/** A series with these labels and the value 1 if there are no rows. */
function absenceOf(counted: CountedRows, ofSelector: readonly Label[]): Draft {
  const named = ofSelector.map(([name, text]): LogsqlPipe => {
    // Placeholders and entities have a meaning in a format.
    if (/[<&]/.test(text))
      throw new NotConvertible(
        `absent_over_time: LogsQL cannot write the label value ${JSON.stringify(text)}`,
      );
    return { kind: 'format', pattern: text, as: name };
  });
  return {
    counted: [counted],
    rowLabels: [],
    labels: ofSelector.map(([label]) => ({ label, field: label })),
    pipes: [where(exact(counted.rows, '0')), ...named],
    conditions: [],
    value: mathNumber(1),
    isPositive: true,
    startsAtZero: false,
  };
}
