import type { StreamsAnswer } from '../../wire/answer/types.js';
import type { QueryRangeRequest } from '../../wire/api/request.js';
import { pipelineEvaluator } from '../../logql/lines/evaluator.js';
import { LinePacer } from '../../logql/lines/line-pacer.js';
import type { LogsPlan } from '../plan/types.js';
import type { EngineContext } from '../context.js';
import { EntryCollector } from './entry-collector.js';
import { readPages } from '../rows/row-pages.js';

export type LogsContext = Pick<
  EngineContext,
  'upstream' | 'reader' | 'clock' | 'signal' | 'memory' | 'showsGroups' | 'derive'
> & {
  readonly workers: Pick<EngineContext['workers'], 'run'>;
  readonly memories: Pick<EngineContext['memories'], 'densities'>;
};

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
    densities: context.memories.densities,
  });
  for await (const rows of pages) {
    context.signal.throwIfAborted();
    if (await collector.addAll(rows)) break;
  }
  const streams = collector.streams();
  return {
    kind: 'streams',
    // Derived fields are parsed labels, which are hidden if label groups are.
    streams: context.showsGroups && context.derive !== undefined ? context.derive(streams) : streams,
    stats: { ...collector.counts(), execTimeMs: context.clock.monotonicMs() - startedAt, splits: 1 },
    warnings: [],
  };
}
