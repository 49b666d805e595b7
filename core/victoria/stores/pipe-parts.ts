import type { LogsqlPipe, StatsFunction, StatsName, StatsPipe } from '../logsql/ast.js';
import { statsFunction, isListed } from '../logsql/build.js';
import type { RowsRequest } from '../upstream/types.js';

type PipeKind = LogsqlPipe['kind'];

/** Pipes that produce exactly one row per row. */
const forEach: ReadonlySet<PipeKind> = new Set<PipeKind>([
  'fields',
  'copy',
  'rename',
  'math',
  'format',
  'extract',
  'extract_regexp',
  'unpack_json',
  'replace',
  'pack_json',
]);

/** Splits pipes into the leading ones that process rows separately, and the rest, with which rows depend on each other. */
export function byRows(pipes: readonly LogsqlPipe[]): {
  readonly leading: readonly LogsqlPipe[];
  readonly others: readonly LogsqlPipe[];
} {
  const at = pipes.findIndex(({ kind }) => kind !== 'filter' && !forEach.has(kind));
  return at < 0 ? { leading: pipes, others: [] } : { leading: pipes.slice(0, at), others: pipes.slice(at) };
}

/** True if the pipes produce exactly one row per row. */
export function isOneForOne(pipes: readonly LogsqlPipe[]): boolean {
  return pipes.every(({ kind }) => forEach.has(kind));
}

/** True if rows keep their time, which the limit of a call depends on. */
function keepTime(pipes: readonly LogsqlPipe[]): boolean {
  return pipes.every((pipe) => {
    switch (pipe.kind) {
      case 'fields':
        return isListed(pipe.fields, '_time');
      case 'filter':
        return true;
      default:
        return false;
    }
  });
}

/** A number of oldest rows (`forward`) or newest rows. */
export interface Nearest {
  readonly direction: 'forward' | 'backward';
  readonly count: number;
}

/** The rows at one end of the range, if a request is for these and other pipes only work on separate rows. */
export function nearestAsked({ query: { pipes }, newest }: RowsRequest): Nearest | undefined {
  const { leading, others } = byRows(pipes);
  const [first, ...after] = others;
  if (after.length > 0 || !keepTime(leading)) return undefined;
  if (newest !== undefined) return first === undefined ? { direction: 'backward', count: newest } : undefined;
  const isOldest = first?.kind === 'sort' && !first.desc && first.limit !== 0;
  return isOldest ? { direction: 'forward', count: first.limit } : undefined;
}

/** For each statistics function, the function that combines its results over parts of the rows. */
const joined: Partial<Record<StatsName, StatsName>> = {
  count: 'sum',
  sum: 'sum',
  sum_len: 'sum',
  min: 'min',
  max: 'max',
};
/** Additional functions for values that include the time: distinct values of disjoint time ranges are distinct. */
const joinedWithTime: Partial<Record<StatsName, StatsName>> = { count_uniq: 'sum', count_uniq_hash: 'sum' };

/** The statistics that combine those of time ranges that do not overlap; undefined if rows are needed. */
export function joining(pipe: StatsPipe): StatsPipe | undefined {
  const functions: StatsFunction[] = [];
  for (const { name, fields, limit, as } of pipe.functions) {
    const withTime = fields.some((field) => field.kind === 'name' && field.name === '_time');
    const by = joined[name] ?? (withTime && limit === undefined ? joinedWithTime[name] : undefined);
    if (by === undefined) return undefined;
    functions.push(statsFunction(by, [as], as));
  }
  const isPlain = pipe.by.every(({ field, bucket }) => bucket === undefined || field === '_time');
  return isPlain ? { ...pipe, functions } : undefined;
}

/** True if the rows of each group have the same time, so that no group is in two time ranges. */
export function isByTime({ by }: StatsPipe): boolean {
  return by.some(({ field, bucket }) => field === '_time' && bucket === undefined);
}
