import type { FieldRef, LogsqlPipe, LogsqlQuery, StatsName } from '../logsql/ast.js';
import { united } from '../logsql/build.js';
import { UnexpectedAnswer, shown } from './decode.js';
import { columnOf, type BackendRow } from './types.js';

/** Columns that every row of an answer contains. */
interface Contract {
  readonly hasTime: boolean;
  /** Statistics columns; undefined if the rows are not statistics (any more). */
  readonly columns: readonly string[] | undefined;
  /** Columns with counts of rows or bytes, which the backend never omits. */
  readonly counts: readonly string[];
}

const counting: ReadonlySet<StatsName> = new Set([
  'count',
  'count_empty',
  'count_uniq',
  'count_uniq_hash',
  'sum_len',
]);
const timeShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const wholeNumber = /^\d{1,20}$/;

/** Checks the rows of a query's answer; otherwise, unrelated JSON objects would pass as rows without fields. */
export class RowContract {
  /** Contracts of the query and of the queries that it unites, whose rows come in any order. */
  readonly #contracts: readonly [Contract, ...Contract[]];

  constructor(asked: Pick<LogsqlQuery, 'pipes'>) {
    const [first = asked, ...others] = united(asked);
    this.#contracts = [contractOf(first), ...others.map(contractOf)];
  }

  /** @throws UnexpectedAnswer */
  check(row: BackendRow): void {
    // This runs for every row. The names were given by the row itself, so their presence need not be checked again.
    const columns = row as Readonly<Record<string, unknown>>;
    for (const name in columns)
      if (typeof columns[name] !== 'string') throw unexpectedValue(name, columns[name]);
    const [first, ...others] = this.#contracts;
    const problem = problemOf(row, first);
    if (problem === undefined || others.some((contract) => problemOf(row, contract) === undefined)) return;
    throw new UnexpectedAnswer(problem);
  }

  /**
   * Checks the values of one group of stats_query or stats_query_range.
   * @throws UnexpectedAnswer
   */
  checkColumn(name: string, values: Iterable<string>): void {
    const [{ columns, counts }] = this.#contracts;
    if (columns?.includes(name) === false)
      throw new UnexpectedAnswer(`a column ${shown(name)} that was not requested`);
    if (!counts.includes(name)) return;
    for (const value of values) {
      const problem = problemOfCount(name, value);
      if (problem !== undefined) throw new UnexpectedAnswer(problem);
    }
  }
}

/** The first violation of the contract by a row. */
function problemOf(row: BackendRow, { hasTime, counts }: Contract): string | undefined {
  if (hasTime && !timeShape.test(row._time ?? '')) return `_time of a row is ${shown(row._time)}`;
  for (const name of counts) {
    const problem = problemOfCount(name, columnOf(row, name));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfCount(name: string, value: string | undefined): string | undefined {
  return value === undefined || !wholeNumber.test(value)
    ? `${shown(name)} is ${shown(value)}, not a count`
    : undefined;
}

function unexpectedValue(name: string, value: unknown): UnexpectedAnswer {
  return new UnexpectedAnswer(`the field ${shown(name)} of a row is ${shown(value)}, not a string`);
}

const nothing: Contract = { hasTime: false, columns: undefined, counts: [] };

function contractOf({ pipes }: Pick<LogsqlQuery, 'pipes'>): Contract {
  return pipes.reduce(contractAfter, { hasTime: true, columns: undefined, counts: [] });
}

/** The contract of rows after a pipe, given the contract before it. */
function contractAfter(contract: Contract, pipe: LogsqlPipe): Contract {
  switch (pipe.kind) {
    case 'stats':
      return {
        hasTime: pipe.by.some(({ field }) => field === '_time'),
        columns: pipe.functions.map(({ as }) => as),
        counts: pipe.functions.filter(({ name }) => counting.has(name)).map(({ as }) => as),
      };
    case 'field_names':
      return { hasTime: false, columns: undefined, counts: ['hits'] };
    case 'fields':
      return {
        ...contract,
        hasTime: contract.hasTime && names(pipe.fields, '_time'),
        counts: contract.counts.filter((name) => names(pipe.fields, name)),
      };
    case 'filter':
    case 'limit':
    case 'offset':
    case 'sort':
      return contract;
    default:
      // These pipes may set or remove any field.
      return nothing;
  }
}

function names(fields: readonly FieldRef[], name: string): boolean {
  return fields.some((field) =>
    field.kind === 'name' ? field.name === name : name.startsWith(field.prefix),
  );
}
