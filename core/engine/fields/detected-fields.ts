import type {
  DetectedFieldsAnswer,
  DetectedFieldValuesAnswer,
  StreamResult,
} from '../../wire/answer/types.js';
import type { DetectedFieldsRequest, DetectedFieldValuesRequest } from '../../wire/api/request.js';
import type { TimeRange } from '../../base/time/range.js';
import { labelsText } from '../../base/label-set.js';
import { FieldScan, type FieldScanOptions } from './field-scan.js';
import { apiError } from '../../base/errors/table.js';
import type { EngineContext } from '../context.js';
import type { DetectedFieldsPlan } from '../plan/types.js';
import { collectEntries } from '../logs/logs.js';
import type { RowsUpstream } from '../rows/row-spans.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import { printGoMs } from '../../base/time/index.js';
import { timeoutSignal } from '../../base/time/waits.js';

/** Answers with the fields of the newest lines of a log query. */
export async function answerDetectedFields(
  plan: DetectedFieldsPlan,
  request: DetectedFieldsRequest,
  context: EngineContext,
): Promise<DetectedFieldsAnswer> {
  const { limit } = request;
  return {
    kind: 'detected-fields',
    limit,
    ...(await scannedFields(plan, request, { maxFields: limit }, context)),
  };
}

/** Answers with the values of one field in the newest lines of a log query. */
export async function answerDetectedFieldValues(
  plan: DetectedFieldsPlan,
  request: DetectedFieldValuesRequest,
  context: EngineContext,
): Promise<DetectedFieldValuesAnswer> {
  const { limit, name } = request;
  const { fields, warnings } = await scannedFields(plan, request, { maxFields: 1, only: name }, context);
  return { kind: 'detected-field-values', values: fields[0]?.values.slice(0, limit) ?? [], limit, warnings };
}

/** The fields, and a warning if time ran out. */
async function scannedFields(
  plan: DetectedFieldsPlan,
  { range, lineLimit }: DetectedFieldsRequest | DetectedFieldValuesRequest,
  wanted: Omit<FieldScanOptions, 'keepsDots'>,
  context: EngineContext,
): Promise<Pick<DetectedFieldsAnswer, 'fields' | 'warnings'>> {
  const keepsDots = context.naming.dottedNames === 'accept';
  const scan = new FieldScan({ ...wanted, keepsDots }, context);
  const { streams, warnings } = await newestEntries(plan, range, lineLimit, context);
  await scanStreams(streams, scan);
  return { fields: await scan.fields(), warnings };
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
  context: EngineContext,
): Promise<{ readonly streams: readonly StreamResult[]; readonly warnings: readonly string[] }> {
  const { upstream, clock, signal, options } = context;
  const { detectedFieldsMaxScanLines: maxLines, drilldownScanTimeout: timeoutMs } = options;
  const timeUp = timeoutMs === 0 ? undefined : timeoutSignal(timeoutMs);
  const deadlineMs = timeoutMs === 0 ? Infinity : clock.monotonicMs() + timeoutMs;
  const isOver = (): boolean => timeUp?.aborted === true || clock.monotonicMs() >= deadlineMs;
  const limit = Math.min(lineLimit, maxLines);
  const collector = await collectEntries(
    logs,
    { range, limit, direction: 'backward', intervalNs: 0n, showsGroups: true },
    { ...context, upstream: timeUp === undefined ? upstream : timedRows(upstream, timeUp) },
    isOver,
  );
  const streams = collector.streams();
  if (collector.missing <= 0) return { streams, warnings: [] };
  signal.throwIfAborted();
  if (!isOver()) return { streams, warnings: [] };
  if (streams.length === 0) throw apiError('queryTimeout', {});
  const warning = `partial response: fields are those of the lines read within -drilldown-scan-timeout=${printGoMs(timeoutMs)}`;
  return { streams, warnings: [warning] };
}

/** The same backend with a deadline for reading rows: what has arrived by then is returned as if there were no more. */
function timedRows(upstream: Upstream, timeUp: AbortSignal): RowsUpstream {
  const timed = upstream.until?.(timeUp) ?? upstream;
  const isTimeUp = (): boolean => timeUp.aborted;
  return {
    owner: upstream.owner,
    stats: (request) => timed.stats(request),
    until: timed.until?.bind(timed),
    async *rows(request) {
      if (isTimeUp()) return;
      try {
        yield* timed.rows(request);
      } catch (error) {
        if (!isTimeUp()) throw error;
      }
    },
  };
}
