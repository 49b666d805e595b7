import type { Memory } from '../../../base/memory/byte-lru.js';
import { atPace, Pacer, type Steps } from '../../../base/pace/steps.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, fields, limit, or, query } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { unknownLevel } from '../../../victoria/names/level.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { Upstream } from '../../../victoria/upstream/types.js';
import { type Declined, isDeclined } from '../cost.js';

/** The value of a column in a group or a row. */
export type Get = (name: string) => string | undefined;

/** Splits lines into classes in the backend, so that it can count lines by level without sending them. */
export interface LineDigest {
  readonly pipes: readonly LogsqlPipe[];
  /** The columns that identify a class. */
  readonly columns: readonly string[];
  /** A line with the same meaning as the lines of a group; undefined if the class does not decide it. */
  representativeOf(get: Get): RepresentativeLine | undefined;
  /** The columns of labels of which only the outcomes of comparisons matter; undefined if there are none. */
  readonly outcomes?: OutcomeColumns | undefined;
  /** True if no row of the sample has a stored line. */
  readonly areMissing?: boolean;
  /** A cheaper digest for selections without uncertain lines; undefined if the sample contains uncertain lines. */
  readonly proven?: ProvenDigest<LineDigest> | undefined;
}

/** Columns whose values can be replaced by one for each outcome. */
export interface OutcomeColumns {
  /** The columns by label. */
  readonly columns: ReadonlyMap<string, string>;
  /** True if a line can be written with this value of a label. */
  readonly canHold: (name: string, value: string) => boolean;
}

/** A digest for lines that have already been inspected. */
export interface ProvenDigest<Digest> {
  readonly uncertainLines: UncertainLines;
  readonly digest: Digest;
  /** The digest that does not search the lines of these rows, which have no level. */
  readonly without?: (levelless: LogsqlFilter) => Digest;
}

/** Knowledge about the lines of a selection. */
export interface InspectedLines {
  /** The streams with uncertain lines; undefined if that is unknown. */
  readonly uncertainStreams: ReadonlySet<string> | undefined;
  /** Matches rows in streams none of whose lines has a level. */
  readonly levelless?: LogsqlFilter | undefined;
}

/** The cheapest digest for these lines. */
export function cheapestDigest<Digest extends { readonly proven?: ProvenDigest<Digest> | undefined }>(
  digest: Digest,
  { uncertainStreams, levelless }: InspectedLines,
): Digest {
  const { proven } = digest;
  if (uncertainStreams?.size !== 0 || proven === undefined) return digest;
  return (levelless && proven.without?.(levelless)) ?? proven.digest;
}

/** Lines to search for once in a selection; `key` identifies them. */
export interface UncertainLines {
  readonly key: string;
  readonly pipes: readonly LogsqlPipe[];
  /** Matches, after the pipes, the lines that represent only themselves. */
  readonly filter: LogsqlFilter;
  /** Matches, after the pipes, rows with a level, which the cheaper digest finds in the line; undefined if it does not find levels. */
  readonly withLevel?: LogsqlFilter | undefined;
  /** The level by which the cheaper digest counts a line, from the columns of the pipes; undefined if it does not count by level alone. */
  readonly countedLevel?: (get: Get) => string;
}

/** Lines to read a sample of. */
interface SampledLines {
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
const mostPerSlice = 2000;
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

/** Sample sizes. A first query waits for the sample, and few lines often show a common form; if not, more lines are read. */
const rowsPerSlice = [200, 500] as const;
/** Minimum number of lines per class for counting by class to be worthwhile. */
export const minLinesPerClass = 6;
const keptMs = 600_000;
/** Approximate size of a digest in memory, which consists of a few pipes. */
const digestBytes = 1000;

/** A line to evaluate in place of all lines of a group. */
export interface RepresentativeLine {
  readonly line: string;
  /** The level of the lines, if this line does not contain it. */
  readonly level?: string;
}

/** A question about lines that a sample of them answers. */
export interface LineQuestion<Digest extends LineDigest = LineDigest> {
  /** Identifies the question in the memory of digests. */
  readonly key: string;
  /** Returns a digest for lines like these, or the reason to read them instead; each step handles one line. */
  readonly digestFor: (lines: readonly string[]) => Steps<Digest | Declined>;
}

/** The lines to digest. */
interface LinesToDigest extends SampledLines {
  readonly samples: Pick<LineSamples, 'of'>;
  /** Ends the sampling. */
  readonly signal: AbortSignal;
}

/** Finds out from a sample whether classes decide the meaning of a selection's lines, and remembers the result. */
export class LineDigests {
  readonly #memory: Memory<LineDigest | Declined>;

  constructor(memory: Memory<LineDigest | Declined>) {
    this.#memory = memory;
  }

  /** The remembered digest or decline, if any. */
  known<Digest extends LineDigest>(
    { key }: LineQuestion<Digest>,
    { upstream, selection }: Pick<LinesToDigest, 'upstream' | 'selection'>,
  ): Digest | Declined | undefined {
    // The key identifies the question, so the value is a result of its `digestFor`.
    return this.#memory.get(keyOf(key, upstream, selection)) as Digest | Declined | undefined;
  }

  /** A digest of the lines, or the reason to read them instead: they must have enough in common. */
  async of<Digest extends LineDigest>(
    question: LineQuestion<Digest>,
    asked: LinesToDigest,
  ): Promise<Digest | Declined> {
    const known = this.known(question, asked);
    if (known !== undefined) return known;
    const [few, more] = rowsPerSlice;
    let lines = await asked.samples.of(asked, few);
    let digest = await digestFromSample(question, lines, asked);
    if (isDeclined(digest) && asked.rows > few) {
      const others = await asked.samples.of(asked, more);
      if (others !== lines) digest = await digestFromSample(question, others, asked);
      lines = others;
    }
    // An empty sample says nothing about other ranges.
    if (lines.length === 0) return digest;
    if (!isDeclined(digest) && lines.every(({ line }) => asked.naming.isMissingLine(line)))
      digest = { ...digest, areMissing: true };
    this.#memory.set(keyOf(question.key, asked.upstream, asked.selection), digest, digestBytes, keptMs);
    return digest;
  }
}

function digestFromSample<Digest extends LineDigest>(
  { digestFor }: LineQuestion<Digest>,
  lines: readonly SampledLine[],
  { signal }: Pick<LinesToDigest, 'signal'>,
): Promise<Digest | Declined> {
  return atPace(digestFor(lines.map(({ line }) => line)), new Pacer(signal));
}

function keyOf(question: string, { owner }: Pick<Upstream, 'owner'>, selection: LogsqlFilter): string {
  return `${question} ${owner} ${printFilter(selection)}`;
}

/** A line without a level. */
export const noLevel = 'x';

/** The level of the lines that a line with one level word, or with `noLevel`, represents. */
export function representedLevel({ line }: RepresentativeLine): string {
  return line === noLevel ? unknownLevel : line;
}

/** Union of uncertain lines; each filter applies after its own pipes. */
export function joinUncertainLines(
  some: readonly (UncertainLines | undefined)[],
): UncertainLines | undefined {
  const uncertainLines = some.filter((lines) => lines !== undefined);
  const [first, ...others] = uncertainLines;
  if (first === undefined || others.length === 0) return first;
  const withLevel = uncertainLines.flatMap((lines) => lines.withLevel ?? []);
  return {
    key: JSON.stringify(uncertainLines.map(({ key }) => key)),
    pipes: uncertainLines.flatMap(({ pipes }) => pipes),
    filter: or(...uncertainLines.map(({ filter }) => filter)),
    withLevel: withLevel.length === 0 ? undefined : or(...withLevel),
  };
}

/** Combines two digests: the first provides the line, the second the level. */
export function withLevels(lines: LineDigest, levels: LineDigest): LineDigest {
  return {
    pipes: [...lines.pipes, ...levels.pipes],
    columns: [...lines.columns, ...levels.columns],
    representativeOf(get) {
      const [representative, level] = [lines.representativeOf(get), levels.representativeOf(get)];
      if (representative === undefined || level === undefined) return undefined;
      return { ...representative, level: representedLevel(level) };
    },
  };
}
