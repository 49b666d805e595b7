import { ApiError } from '../../base/errors/api-error.js';
import { errorTable } from '../../base/errors/table.js';
import { Windows, type LeafRequest, type SeriesTable } from '../../logql/metric/index.js';
import type { LeafPlan } from '../plan/types.js';
import type { LeafContext, Strategy } from './context.js';
import { fieldsStrategy } from './count/fields-strategy.js';
import { statisticsStrategy } from './count/statistics-strategy.js';
import { wholeStretches } from './count/time-stretches.js';
import { valueGroupsStrategy } from './count/value-groups.js';
import { decline, isDeclined, type Declined } from './declined.js';
import { rowsStrategy, wholeRowsStrategy } from './rows.js';
import { shortLinesStrategy } from './short-lines.js';

/**
 * Every way to read a leaf, in the order in which they are tried: the one that transfers least comes first, and the last one can read every
 * leaf.
 */
export const strategies: readonly Strategy[] = [
  fieldsStrategy,
  statisticsStrategy,
  valueGroupsStrategy,
  shortLinesStrategy,
  rowsStrategy,
  wholeRowsStrategy,
];

/** Reads the series of a leaf by the first possible strategy. */
export async function readLeaf(request: LeafRequest<LeafPlan>, context: LeafContext): Promise<SeriesTable> {
  const { fromNs, toNs } = new Windows(request.columns, request.leaf.range.range).interval;
  // One place for all calls: one of them could wait for the place that another one holds.
  const leave = await context.upstream.hold?.(wholeStretches({ startNs: fromNs, endNs: toNs + 1n }));
  try {
    return await readHeld(request, context);
  } finally {
    leave?.();
  }
}

async function readHeld(request: LeafRequest<LeafPlan>, context: LeafContext): Promise<SeriesTable> {
  let hasFailed = false;
  for (const strategy of context.strategies) {
    const result = await tryStrategy(strategy, hasFailed, request, context);
    if (!isDeclined(result)) return result;
    hasFailed ||= result.declined === 'entry-failed';
  }
  throw new Error('no strategy can read a leaf');
}

/** @param hasFailed whether an entry could not be evaluated, so that the error must name it */
async function tryStrategy(
  { name, namesFailedEntry, prepare }: Strategy,
  hasFailed: boolean,
  request: LeafRequest<LeafPlan>,
  context: LeafContext,
): Promise<SeriesTable | Declined> {
  const { leaf } = request;
  const { clock, tried } = context;
  const startedMs = clock.monotonicMs();
  const tell = (outcome: string): void =>
    tried({ leaf: leaf.index, strategy: name, outcome, durationMs: clock.monotonicMs() - startedMs });
  try {
    const attempt = hasFailed && namesFailedEntry === 'no' ? decline('entry-failed') : prepare(leaf);
    const upstream = context.upstream.taggedWith?.(name) ?? context.upstream;
    const result = isDeclined(attempt) ? attempt : await attempt(request, { ...context, upstream });
    tell(isDeclined(result) ? result.declined : 'ran');
    return result;
  } catch (error) {
    if (namesFailedEntry !== 'fully' && isEntryFailure(error)) {
      tell('entry-failed');
      return decline('entry-failed');
    }
    tell('failed');
    throw error;
  }
}

function isEntryFailure(error: unknown): boolean {
  return error instanceof ApiError && error.entry === errorTable.pipelineError;
}
