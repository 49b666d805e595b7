import type {
  DetectedFieldsAnswer,
  DetectedFieldValuesAnswer,
  StreamResult,
} from '../../wire/answer/types.js';
import type { DetectedFieldsRequest, DetectedFieldValuesRequest } from '../../wire/api/request.js';
import type { TimeRange } from '../../base/time/range.js';
import { labelsText } from '../../base/label-set.js';
import { FieldScan } from './field-scan.js';
import { apiError } from '../../base/errors/table.js';
import { LinePacer, pipelineEvaluator } from '../../logql/lines/evaluator.js';
import type { EngineContext } from '../context.js';
import type { DetectedFieldsPlan } from '../plan/types.js';
import { EntryCollector } from '../logs/logs.js';
import { readPages } from '../rows/row-pages.js';
import { timedRows } from '../rows/timed-rows.js';
import { printGoDuration } from '../../base/time/index.js';

const maxTimerMs = 2 ** 31 - 1;

/** Answers with the fields of the newest lines of a log query. */
export async function answerDetectedFields(
  plan: DetectedFieldsPlan,
  request: DetectedFieldsRequest,
  context: EngineContext,
): Promise<DetectedFieldsAnswer> {
  const keepsDots = context.naming.dottedNames === 'accept';
  const scan = new FieldScan({ maxFields: request.limit, keepsDots }, context);
  const warnings = await scanLines(plan, request, scan, context);
  return { kind: 'detected-fields', fields: await scan.fields(), limit: request.limit, warnings };
}

/** Answers with the values of one field in the newest lines of a log query. */
export async function answerDetectedFieldValues(
  plan: DetectedFieldsPlan,
  request: DetectedFieldValuesRequest,
  context: EngineContext,
): Promise<DetectedFieldValuesAnswer> {
  const keepsDots = context.naming.dottedNames === 'accept';
  const scan = new FieldScan({ maxFields: 1, keepsDots, only: request.name }, context);
  const warnings = await scanLines(plan, request, scan, context);
  const [field] = await scan.fields();
  const values = field?.values.slice(0, request.limit) ?? [];
  return { kind: 'detected-field-values', values, limit: request.limit, warnings };
}

/** @returns a warning if time ran out */
async function scanLines(
  plan: DetectedFieldsPlan,
  request: DetectedFieldsRequest | DetectedFieldValuesRequest,
  scan: FieldScan,
  context: EngineContext,
): Promise<readonly string[]> {
  const { streams, warnings } = await newestEntries(plan, request.range, request.lineLimit, context);
  await scanStreams(streams, scan);
  return warnings;
}

/** Scans the lines of streams. The last line read determines the type and path of a field, so streams are read in Loki's order. */
export async function scanStreams(streams: readonly StreamResult[], scan: FieldScan): Promise<void> {
  const inOrder = streams
    .map(({ labels, entries }) => ({ labels, entries, text: labelsText(labels) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
  for (const { labels, entries } of inOrder) for (const entry of entries) await scan.add(labels, entry);
}

/** The newest entries that match the query. When time runs out, returns those read so far, or an error if there are none. */
async function newestEntries(
  { logs }: DetectedFieldsPlan,
  range: TimeRange,
  lineLimit: number,
  { upstream, reader, clock, signal, memory, workers, options, memories }: EngineContext,
): Promise<{ readonly streams: readonly StreamResult[]; readonly warnings: readonly string[] }> {
  const { detectedFieldsMaxScanLines: maxLines, drilldownScanTimeout: timeoutMs } = options;
  const limit = Math.min(lineLimit, maxLines);
  const collector = new EntryCollector({
    limit,
    direction: 'backward',
    intervalNs: 0n,
    recheck: pipelineEvaluator(logs.recheck, { workers, signal }),
    residual: pipelineEvaluator(logs.residual, { workers, signal }),
    pacer: new LinePacer(signal),
    showsGroups: true,
    memory,
  });
  const timeUp = timeoutMs === 0 ? undefined : AbortSignal.timeout(Math.min(timeoutMs, maxTimerMs));
  const deadlineMs = timeoutMs === 0 ? Infinity : clock.monotonicMs() + timeoutMs;
  const isOver = (): boolean => timeUp?.aborted === true || clock.monotonicMs() >= deadlineMs;
  const firstPageRows = logs.residual.length === 0 ? limit : Math.max(2 * limit, 1000);
  const pages = readPages({
    filter: logs.filter,
    range,
    direction: 'backward',
    firstPageRows,
    upstream: timeUp === undefined ? upstream : timedRows(upstream, timeUp),
    reader,
    signal,
    memory,
    missing: () => collector.missing,
    densities: memories.densities,
  });
  for await (const rows of pages) {
    signal.throwIfAborted();
    if (await collector.addAll(rows)) return { streams: collector.streams(), warnings: [] };
    if (isOver()) break;
  }
  signal.throwIfAborted();
  if (!isOver()) return { streams: collector.streams(), warnings: [] };
  if (collector.counts().entriesReturned === 0) throw apiError('queryTimeout', {});
  const within = printGoDuration(BigInt(Math.round(timeoutMs)) * 1_000_000n);
  const warning = `partial response: fields are those of the lines read within -drilldown-scan-timeout=${within}`;
  return { streams: collector.streams(), warnings: [warning] };
}
