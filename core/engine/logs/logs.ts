import type { StreamsAnswer } from '../../wire/answer/types.js';
import type { QueryRangeRequest } from '../../wire/api/request.js';
import { pipelineEvaluator } from '../../logql/lines/evaluator.js';
import { LinePacer } from '../../logql/lines/line-pacer.js';
import type { LineWorkers } from '../../logql/lines/line-workers.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { RowReader } from '../../victoria/names/row-reader.js';
import type { LogsPlan } from '../plan/types.js';
import type { Clock } from '../../base/clock.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import { EntryCollector } from './entry-collector.js';
import { readPages } from '../rows/row-pages.js';

export interface LogsContext {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly workers: Pick<LineWorkers, 'run'>;
  readonly memory: MemoryAccount;
  /** False when the third tuple element is to stay empty. */
  readonly showsGroups: boolean;
}

/** Answers a log query: reads pages of rows in the request's direction until enough entries pass the residual stages. */
export async function answerLogs(
  plan: LogsPlan,
  request: QueryRangeRequest,
  context: LogsContext,
): Promise<StreamsAnswer> {
  const startedAt = context.clock.monotonicMs();
  const collector = new EntryCollector({
    limit: request.limit,
    direction: request.direction,
    intervalNs: request.intervalNs,
    recheck: pipelineEvaluator(plan.recheck, context),
    residual: pipelineEvaluator(plan.residual, context),
    pacer: new LinePacer(context.signal),
    showsGroups: context.showsGroups,
    memory: context.memory,
  });
  const keepsAll = plan.residual.length === 0 && request.intervalNs === 0n;
  const pages = readPages({
    filter: plan.filter,
    range: request.range,
    direction: request.direction,
    firstPageRows: keepsAll ? request.limit : Math.max(2 * request.limit, 1000),
    upstream: context.upstream,
    reader: context.reader,
    signal: context.signal,
    memory: context.memory,
    missing: () => collector.missing,
  });
  for await (const rows of pages) {
    context.signal.throwIfAborted();
    if (await collector.addAll(rows)) break;
  }
  return {
    kind: 'streams',
    streams: collector.streams(),
    stats: { ...collector.counts(), execTimeMs: context.clock.monotonicMs() - startedAt, splits: 1 },
    warnings: [],
  };
}
