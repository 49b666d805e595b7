import type {
  LogsqlFilter,
  LogsqlPipe,
  LogsqlQuery,
  MathExpr,
  StatsFunction,
} from '../../victoria/logsql/ast.js';
import {
  and,
  everything,
  fields,
  or,
  query,
  stats,
  statsFunction,
  where,
} from '../../victoria/logsql/build.js';
import { printFilter, printQuery } from '../../victoria/logsql/print.js';
import { NotConvertible } from './not-convertible.js';
import type { ReadFilter } from './read-filter.js';
import type { SeriesLabel } from './stored-labels.js';

/** Rows that are counted, and the columns of their counts. */
export interface CountedRows extends ReadFilter {
  readonly intervalNs: bigint;
  readonly offsetNs: bigint;
  /** Column of the number of rows. */
  readonly rows: string;
  /** Column of the bytes of their lines; undefined if only rows count. */
  readonly bytes: string | undefined;
  /** Matches groups that have such rows. */
  readonly present: LogsqlFilter;
}

/** A query in the making: rows are counted by labels, then pipes and conditions apply, and an expression gives the value of a series. */
export interface Draft {
  readonly counted: readonly CountedRows[];
  /** The labels by which rows are counted. */
  readonly rowLabels: readonly SeriesLabel[];
  /** The labels of the series. */
  readonly labels: readonly SeriesLabel[];
  readonly pipes: readonly LogsqlPipe[];
  /** Conditions on columns that a series must still meet. */
  readonly conditions: readonly LogsqlFilter[];
  readonly value: MathExpr;
  /** True if the value is above zero in every series. */
  readonly isPositive: boolean;
  /** True if the value is zero where there are no rows. */
  readonly startsAtZero: boolean;
}

/** Names for the columns of a query, none of which a label has. */
export class ColumnNames {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  take(name: string): string {
    let free = name;
    for (let count = 2; this.#taken.has(free); count += 1) free = `${name}_${count}`;
    this.#taken.add(free);
    return free;
  }
}

/** The pipes with the conditions checked. */
function checkedPipes({
  counted,
  rowLabels,
  pipes,
  conditions,
}: Pick<Draft, 'counted' | 'rowLabels' | 'pipes' | 'conditions'>): readonly LogsqlPipe[] {
  const [first, another] = counted;
  // A group of the only rows that are counted has rows.
  const isSure = another === undefined && rowLabels.length > 0;
  const open = and(...conditions.filter((one) => !(isSure && one === first?.present)));
  return open.kind === 'all' ? pipes : [...pipes, where(open)];
}

/** The pipes with the conditions checked, and the column of the value. */
export function withValue(
  draft: Draft,
  columns: ColumnNames,
): { readonly pipes: readonly LogsqlPipe[]; readonly column: string } {
  const pipes = checkedPipes(draft);
  const { value } = draft;
  if (value.kind === 'field') return { pipes, column: value.name };
  const column = columns.take('value');
  return { pipes: [...pipes, { kind: 'math', entries: [{ expr: value, as: column }] }], column };
}

/** Maximum length of `query` that VictoriaLogs accepts by default (`-search.maxQueryLen`), in bytes. */
const maxQueryBytes = 16_384;

/**
 * The query of a draft.
 * @throws NotConvertible if its parts read different times, or if it is too long
 */
export function assemble(draft: Draft, columns: ColumnNames): LogsqlQuery {
  const { counted, rowLabels, labels } = draft;
  const [first, ...others] = counted;
  if (first === undefined) throw new NotConvertible('it reads no logs');
  const { intervalNs, offsetNs } = first;
  if (others.some((one) => one.intervalNs !== intervalNs || one.offsetNs !== offsetNs))
    throw new NotConvertible('its parts have different ranges or offsets, and a LogsQL query has one');
  const { filter, conditionOf } = rowsOfAll(counted);
  const functions = functionsOf(draft, conditionOf);
  const { pipes, column } = withValue(draft, columns);
  const isOnlyColumn = hasOneColumn(functions, pipes);
  const renamed = labels.filter(({ label, field }) => label !== field);
  const made = query(and(timeOf(first), filter), [
    stats(
      rowLabels.map(({ field }) => field),
      ...functions,
    ),
    ...pipes,
    ...(renamed.length === 0 ? [] : [renaming(renamed)]),
    ...(isOnlyColumn ? [] : [fields(...labels.map(({ label }) => label), column)]),
  ]);
  if (Buffer.byteLength(printQuery(made)) > maxQueryBytes)
    throw new NotConvertible(`its LogsQL would have more than ${maxQueryBytes} bytes`);
  return made;
}

/** The window of a range aggregation: it holds its end and not its begin, unlike a duration in LogsQL. */
function timeOf({ intervalNs, offsetNs }: CountedRows): LogsqlFilter {
  return { kind: 'time-relative', duration: intervalNs, offset: offsetNs - 1n };
}

interface RowsOfAll {
  /** Matches the rows of all. */
  readonly filter: LogsqlFilter;
  /** Matches the rows of one among them. */
  readonly conditionOf: (one: CountedRows) => LogsqlFilter;
}

function rowsOfAll(counted: readonly CountedRows[]): RowsOfAll {
  const [first, another] = counted;
  if (first === undefined) return { filter: everything, conditionOf: () => everything };
  if (another === undefined)
    return { filter: and(first.selection, first.condition), conditionOf: () => everything };
  const isSameSelection = counted.every((one) => printFilter(one.selection) === printFilter(first.selection));
  const conditionOf = ({ selection, condition }: CountedRows): LogsqlFilter =>
    isSameSelection ? condition : and(selection, condition);
  const any = or(...counted.map(conditionOf));
  return { filter: isSameSelection ? and(first.selection, any) : any, conditionOf };
}

/** The columns by which rows are counted; the number of rows is left out where only bytes matter. */
function functionsOf(draft: Draft, conditionOf: RowsOfAll['conditionOf']): readonly StatsFunction[] {
  const tested = new Set(
    checkedPipes(draft).flatMap((pipe) => (pipe.kind === 'filter' ? partsOf(pipe.filter) : [])),
  );
  return draft.counted.flatMap((one) => {
    const { rows, bytes, present } = one;
    const condition = conditionOf(one);
    const own = condition.kind === 'all' ? {} : { condition };
    const ofRows = { ...statsFunction('count', [], rows), ...own };
    if (bytes === undefined) return [ofRows];
    const ofBytes = { ...statsFunction('sum_len', ['_msg'], bytes), ...own };
    return tested.has(present) ? [ofBytes, ofRows] : [ofBytes];
  });
}

function partsOf(filter: LogsqlFilter): readonly LogsqlFilter[] {
  return filter.kind === 'and' ? filter.parts : [filter];
}

/** True if the value is the only column beside labels. */
function hasOneColumn(functions: readonly StatsFunction[], pipes: readonly LogsqlPipe[]): boolean {
  let columns = functions.length;
  for (const pipe of pipes) {
    if (pipe.kind === 'stats') columns = pipe.functions.length;
    else if (pipe.kind !== 'filter') columns += 1;
  }
  return columns === 1;
}

function renaming(labels: readonly SeriesLabel[]): LogsqlPipe {
  const name = (text: string): { readonly kind: 'name'; readonly name: string } => ({
    kind: 'name',
    name: text,
  });
  return {
    kind: 'rename',
    pairs: labels.map(({ field, label }) => ({ from: name(field), to: name(label) })),
  };
}
