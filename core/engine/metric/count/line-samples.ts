import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, fields, limit, or, query } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { Upstream } from '../../../victoria/upstream/types.js';

/** Lines to read a sample of. */
export interface SampledLines {
  readonly upstream: Upstream;
  readonly naming: Pick<Naming, 'isMissingLine'>;
  readonly selection: LogsqlFilter;
  readonly range: TimeRange;
  /** Approximate number of lines in the range. */
  readonly rows: number;
}

export interface SampledLine {
  /** The `_stream` text of its stream. */
  readonly stream: string;
  readonly line: string;
}

/** Number of time slices of a sample. The backend reads at least one block per stream and slice. */
const slices = 4n;
/** Maximum number of lines per slice. */
export const mostPerSlice = 2000;
/** For more rows than this, any sample reads whole blocks. More lines then cost little more, and one sample serves all questions. */
const rowsOfWholeBlocks = 1_000_000;
/** Maximum number of characters of lines to keep for other questions of the request. */
const maxKept = 4 << 20;

/** The samples of one request, shared by all questions about the same lines. */
export class LineSamples {
  readonly #known = new Map<string, readonly SampledLine[]>();
  #kept = 0;

  /** A sample of these lines, read once. */
  async of(asked: SampledLines, wanted: number): Promise<readonly SampledLine[]> {
    const { selection, range, rows } = asked;
    const perSlice = rows > rowsOfWholeBlocks ? mostPerSlice : wanted;
    const key = `${perSlice} ${range.startNs} ${range.endNs} ${rows} ${printFilter(selection)}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const lines = await sample(asked, perSlice);
    const length = lines.reduce((sum, { line }) => sum + line.length, 0);
    if (this.#kept + length <= maxKept) {
      this.#kept += length;
      this.#known.set(key, lines);
    }
    return lines;
  }
}

/**
 * Reads lines of all streams from slices all over a range, in one call: the backend reads whole blocks, which may contain hours of a
 * stream, and would read the same blocks for each slice.
 */
async function sample(
  { upstream, naming, selection, range, rows }: SampledLines,
  perSlice: number,
): Promise<readonly SampledLine[]> {
  const filter = sampleOf(selection, range, rows, perSlice);
  const pipes = [fields('_stream', '_msg'), limit(mostPerSlice * Number(slices))];
  const streams = new Map<string, string>();
  const lines: SampledLine[] = [];
  for await (const batch of upstream.rows({ query: query(filter, pipes), range }))
    for (const { _stream = '{}', _msg = '' } of batch) {
      // Lines of a stream share one string.
      const stream = streams.get(_stream) ?? _stream;
      streams.set(stream, stream);
      lines.push({ stream, line: _msg });
    }
  const stored = lines.filter(({ line }) => !naming.isMissingLine(line));
  return stored.length === 0 ? lines : stored;
}

/**
 * Matches rows of a selection in slices all over a range.
 * @param rows the approximate number of all rows
 */
function sampleOf(
  selection: LogsqlFilter,
  { startNs, endNs }: TimeRange,
  rows: number,
  perSlice: number,
): LogsqlFilter {
  const lengthNs = (endNs - startNs) / slices;
  if (rows <= perSlice || lengthNs === 0n) return selection;
  // With a limit, the first rows could all be of one stream, so the slices are sized to contain about the wanted number.
  const wanted = BigInt(perSlice) * slices;
  const cutNs = (lengthNs * wanted) / (BigInt(Math.ceil(rows)) + wanted) + 1n;
  const parts = Array.from({ length: Number(slices) }, (_, index): LogsqlFilter => {
    const min = startNs + BigInt(index) * lengthNs;
    return { kind: 'time', min, max: min + cutNs - 1n };
  });
  return and(selection, or(...parts));
}
