import { apiError } from '../../core/base/errors/table.js';
import { printRfc3339 } from '../../core/base/time/index.js';
import type { TimeRange } from '../../core/base/time/range.js';
import type { LogExpr, PipelineEntry } from '../../core/logql/index.js';
import { descriptorOf } from '../../core/logql/stages/index.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';
import { rangeOn, type Side } from './border.js';
import { streamsIn } from './log-lines.js';
import type { Sides } from './sides.js';
import type { MetricRequest } from './window-parts.js';

/** The sides to read from, and the bounds of that. */
export interface LineReading {
  readonly sides: Sides;
  readonly untilNs: bigint;
  readonly maxLines: number;
  readonly linesPerCall: number;
  /** Told of lines that were read. */
  readonly onLines: (count: number) => void;
}

/**
 * Reads the lines of both sides for evaluation here, call by call: the entries that match the selector and the line filters at the begin of
 * a query, whose other stages have not run.
 * @throws ApiError `oldLokiTooManyLines`
 */
export async function* readLines(
  { selector, stages, span }: LogExpr,
  range: TimeRange,
  request: MetricRequest,
  signal: AbortSignal,
  reading: LineReading,
): AsyncGenerator<readonly PipelineEntry[]> {
  const { untilNs, maxLines, linesPerCall, onLines } = reading;
  const others = stages.findIndex((stage) => descriptorOf(stage).order !== 'filter');
  const filters = others < 0 ? stages : stages.slice(0, others);
  const asked: QueryRangeRequest = {
    op: 'query_range',
    query: request.query.withAst({ kind: 'log', selector, stages: filters, span }),
    range,
    stepNs: 1_000_000_000n,
    limit: linesPerCall,
    direction: 'forward',
    intervalNs: 0n,
    isPart: true,
  };
  let lines = 0;
  for (const side of ['old', 'new'] as const)
    for await (const entries of pages(side, asked, signal, reading)) {
      lines += entries.length;
      onLines(entries.length);
      if (lines > maxLines)
        throw apiError('oldLokiTooManyLines', { until: printRfc3339(untilNs), limit: maxLines });
      yield entries;
    }
}

/** The entries of one side. A page ends before the time of its last entry, which others may share, unless it is the last page. */
async function* pages(
  side: Side,
  request: QueryRangeRequest,
  signal: AbortSignal,
  { sides, untilNs, linesPerCall }: LineReading,
): AsyncGenerator<readonly PipelineEntry[]> {
  let range = rangeOn(side, request.range, untilNs);
  while (range !== undefined) {
    const answer = await sides.ask({ side, request: { ...request, range } }, signal);
    const entries = streamsIn(answer).streams.flatMap(({ labels, entries: own }) =>
      own.map(({ timestampNs, line, structuredMetadata }): PipelineEntry => ({
        ...{ stream: labels, structuredMetadata, timestampNs, line },
      })),
    );
    if (entries.length < linesPerCall) {
      yield entries;
      return;
    }
    const [firstNs, lastNs] = [range.startNs, newestOf(entries)];
    if (lastNs === firstNs)
      throw apiError('oldLokiTooManyLines', { until: printRfc3339(untilNs), limit: linesPerCall });
    yield entries.filter(({ timestampNs }) => timestampNs < lastNs);
    range = { ...range, startNs: lastNs };
  }
}

function newestOf(entries: readonly PipelineEntry[]): bigint {
  return entries.reduce((newest, { timestampNs }) => (timestampNs > newest ? timestampNs : newest), 0n);
}
