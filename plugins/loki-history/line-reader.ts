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

export interface LineReaderOptions {
  readonly untilNs: bigint;
  readonly maxLines: number;
  readonly linesPerCall: number;
  /** Told of lines that were read. */
  readonly onLines: (count: number) => void;
}

/** Reads the lines of both sides for evaluation here, call by call. */
export class LineReader {
  readonly #sides: Sides;
  readonly #options: LineReaderOptions;

  constructor(sides: Sides, options: LineReaderOptions) {
    this.#sides = sides;
    this.#options = options;
  }

  /**
   * The entries that match the selector and the line filters at the begin of a query; its other stages have not run.
   * @throws ApiError `oldLokiTooManyLines`
   */
  async *read(
    { selector, stages, span }: LogExpr,
    range: TimeRange,
    request: MetricRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly PipelineEntry[]> {
    const { untilNs, maxLines, linesPerCall, onLines } = this.#options;
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
      for await (const entries of this.#pages(side, asked, signal)) {
        lines += entries.length;
        onLines(entries.length);
        if (lines > maxLines)
          throw apiError('oldLokiTooManyLines', { until: printRfc3339(untilNs), limit: maxLines });
        yield entries;
      }
  }

  /** The entries of one side. A page ends before the time of its last entry, which others may share, unless it is the last page. */
  async *#pages(
    side: Side,
    request: QueryRangeRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly PipelineEntry[]> {
    const { untilNs, linesPerCall } = this.#options;
    let range = rangeOn(side, request.range, untilNs);
    while (range !== undefined) {
      const answer = await this.#sides.ask({ side, request: { ...request, range } }, signal);
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
}

function newestOf(entries: readonly PipelineEntry[]): bigint {
  return entries.reduce((newest, { timestampNs }) => (timestampNs > newest ? timestampNs : newest), 0n);
}
