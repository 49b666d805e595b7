import { gridColumns, gridFor, EntryCounter, evaluatePlanned } from '../../logql/metric/index.js';
import type { FieldRef } from '../../victoria/logsql/ast.js';
import { printFilter } from '../../victoria/logsql/print.js';
import type { MatrixAnswer, SeveralAnswer } from '../../wire/answer/types.js';
import type { QueryRangeRequest } from '../../wire/api/request.js';
import type { EngineContext } from '../context.js';
import { canBeGathered } from '../plan/metric.js';
import type { GatheredPart, GatheredPlan, LeafPlan, MetricPlan } from '../plan/types.js';
import type { LeafContext } from './context.js';
import { wholeSegments } from './count/time-segments.js';
import { leafContext, metricContext } from './metric.js';
import { plannedEntries } from './rows.js';

/** A leaf whose rows are read with the columns that the query uses. */
type RowLeaf = LeafPlan & { readonly columns: readonly FieldRef[] };

/** The only leaf of a plan, if it is the whole query and may be answered from rows read for others too; otherwise undefined. */
function rowLeafOf({ tree }: MetricPlan): RowLeaf | undefined {
  if (tree.kind !== 'leaf') return undefined;
  const { columns } = tree.leaf;
  return columns !== undefined && canBeGathered(tree.leaf) ? { ...tree.leaf, columns } : undefined;
}

/** Identifies leaves that can be read together over one range: by their rows and lookback. */
function rowsKey({ logs, selection, range }: LeafPlan): string {
  const { intervalNanoseconds, offsetNanoseconds } = range.range;
  const filters = [printFilter(logs.filter), printFilter(selection)];
  return JSON.stringify([...filters, String(intervalNanoseconds), String(offsetNanoseconds)]);
}

/**
 * Reads the rows of several metric queries once. Each query is evaluated as it would be alone. A part that fails, or that turns out to need
 * other rows, gets no answer here; asked alone, it gets an answer or its own error.
 * @throws ApiError if reading fails for all of them
 */
export async function executeGathered(
  { parts }: GatheredPlan,
  request: QueryRangeRequest,
  context: EngineContext,
): Promise<SeveralAnswer> {
  const { clock, signal, workers } = context;
  const startedAt = clock.monotonicMs();
  const asked = metricContext(request, context);
  const { limits, tried } = asked;
  const grid = gridFor(request);
  const columns = gridColumns(grid);
  const members = membersOf(parts).map(
    (one) => new Member(one, new EntryCounter({ leaf: one.leaf, columns, limits, signal }, workers)),
  );
  const took = { strategy: 'rows', calls: 0, rows: 0, bytes: 0 };
  const upstream = context.upstream.taggedWith?.(took) ?? context.upstream;
  const shared = leafContext({ ...asked, upstream });
  await readFor(members, shared);

  const answers: (MatrixAnswer | undefined)[] = parts.map(() => undefined);
  for (const member of members) {
    const { counter } = member;
    const { plan, index } = member.asked;
    const durationMs = clock.monotonicMs() - startedAt;
    await member.attempt(signal, async () => {
      const source = { series: () => counter.table() };
      const result = await evaluatePlanned(plan, grid, source, limits, signal);
      if (result.kind !== 'matrix') return;
      answers[index] = { ...result, stats: shared.counts.stats(durationMs, result.series.length) };
      tried({ leaf: 0, strategy: 'rows', outcome: 'gathered', durationMs });
    });
  }
  return { kind: 'several', answers };
}

interface Asked extends GatheredPart {
  readonly index: number;
  readonly leaf: RowLeaf;
}

/** The parts that need the same rows as the first one. */
function membersOf(parts: readonly GatheredPart[]): readonly Asked[] {
  const members: Asked[] = [];
  let key: string | undefined;
  for (const [index, part] of parts.entries()) {
    const leaf = rowLeafOf(part.plan);
    if (leaf === undefined) continue;
    const own = rowsKey(leaf);
    key ??= own;
    if (own === key) members.push({ ...part, index, leaf });
  }
  return members;
}

class Member {
  #hasFailed = false;

  constructor(
    readonly asked: Asked,
    readonly counter: EntryCounter,
  ) {}

  /** True if the part has failed or no request waits for it any more. */
  get isOver(): boolean {
    return this.#hasFailed || this.asked.signal.aborted;
  }

  /** Does a step of the part's work, unless it is over. An error fails only this part. */
  async attempt(shared: AbortSignal, work: () => Promise<void>): Promise<void> {
    if (this.isOver) return;
    try {
      await work();
    } catch {
      shared.throwIfAborted();
      this.#hasFailed = true;
    }
  }
}

/** Reads rows with the columns that any member uses, and passes them to each member. */
async function readFor(members: readonly Member[], context: LeafContext): Promise<void> {
  const [first] = members;
  if (first === undefined) return;
  const { leaf } = first.asked;
  const columns = new Map<string, FieldRef>();
  for (const one of members)
    for (const column of one.asked.leaf.columns) columns.set(JSON.stringify(column), column);
  const rows = { ...leaf, columns: [...columns.values()], seesFieldsOnly: false };
  const { range } = first.counter;
  const leave = context.upstream.hold?.(wholeSegments(range));
  try {
    for await (const batch of plannedEntries(rows, range, context)) {
      for (const member of members) await member.attempt(context.signal, () => member.counter.add(batch));
      if (members.every(({ isOver }) => isOver)) return;
    }
  } finally {
    leave?.();
  }
}
