import { LabelSet } from '../../base/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import type { TimeRange } from '../../base/time/range.js';
import { logRowBytes, ownLabelsBytes, ofKey } from '../../base/memory/byte-lru.js';
import {
  type LineEvaluator,
  LinePacer,
  type LinePlace,
  pipelineEvaluator,
} from '../../logql/lines/evaluator.js';
import type { PipelineLine } from '../../logql/pipeline/types.js';
import { exceeded, formatLimits } from '../../logql/template/exec/limits.js';
import { entryIdentity } from '../../victoria/names/entry-identity.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import { IntervalFilter } from '../../wire/answer/encode-streams.js';
import type { AnswerStats, Entry, StreamResult, StreamsAnswer } from '../../wire/answer/types.js';
import type { Direction, QueryRangeRequest } from '../../wire/api/request.js';
import type { EngineContext } from '../context.js';
import type { LogsPlan } from '../plan/types.js';
import { readPages } from '../rows/row-pages.js';
import { Instant, type RowsUpstream } from '../rows/row-spans.js';

/** Evaluates the stages of a plan on rows. */
export class LineMaker {
  readonly #recheck: LineEvaluator<PipelineLine | undefined>;
  readonly #residual: LineEvaluator<PipelineLine | undefined>;
  readonly #pacer: LinePacer;
  readonly #showsGroups: boolean;

  /** @param showsGroups false if the third element of tuples must stay empty */
  constructor(plan: Pick<LogsPlan, 'recheck' | 'residual'>, showsGroups: boolean, place: LinePlace) {
    this.#recheck = pipelineEvaluator(plan.recheck, place);
    this.#residual = pipelineEvaluator(plan.residual, place);
    this.#pacer = new LinePacer(place.signal);
    this.#showsGroups = showsGroups;
  }

  /**
   * The line of a row; undefined if the stages drop it. Only few rows give a promise, and awaiting the others would take longer than
   * evaluating them.
   */
  of(row: LogRow): PipelineLine | undefined | Promise<PipelineLine | undefined> {
    const { timestampNs, line, stream, structuredMetadata } = row;
    const read = { timestampNs, line, stream: stream.labels, structuredMetadata };
    // No backend filter has seen a line that was rebuilt.
    const checked = row.isRebuilt ? this.#recheck.of(read) : read;
    if (checked instanceof Promise)
      return checked.then((kept) => (kept === undefined ? undefined : this.#residual.of(read)));
    return checked === undefined ? undefined : this.#residual.of(read);
  }

  /** To be called after each row; returns a promise to await when a pause is due. */
  pause(): Promise<void> | undefined {
    return this.#pacer.after(this.#residual.spent);
  }

  entry(timestampNs: bigint, { line, structuredMetadata, parsed }: PipelineLine): Entry {
    const groups = this.#showsGroups ? { structuredMetadata, parsed } : noGroups;
    return { timestampNs, line, ...groups };
  }
}

const noGroups = { structuredMetadata: LabelSet.empty, parsed: LabelSet.empty };

interface CollectorOptions {
  readonly limit: number;
  readonly direction: Direction;
  /** Interval of which at most one entry is kept; 0 keeps all entries. */
  readonly intervalNs: bigint;
  readonly lines: LineMaker;
  /** Charged for the memory of the entries. */
  readonly memory: MemoryAccount;
}

interface OpenStream {
  readonly labels: LabelSet;
  readonly entries: Entry[];
}

interface MadeEntry {
  readonly row: LogRow;
  readonly line: PipelineLine;
}

/** Receives rows in the request's direction and keeps the entries of the answer, up to its limit. */
export class EntryCollector {
  readonly #options: CollectorOptions;
  readonly #streams = new Map<string, OpenStream>();
  /** Recognizes rows that were pushed or read twice, which are one entry. */
  readonly #rows = new Instant<LogRow>(entryIdentity);
  /** Recognizes entries of a stream that became equal through the stages. Loki merges equal entries of its ingesters and its store, too. */
  readonly #made = new Instant<MadeEntry>(madeIdentity);
  readonly #apart: IntervalFilter;
  #kept = 0;
  #lines = 0;
  #bytes = 0;
  #metadataBytes = 0;
  #formatted = 0;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#apart = new IntervalFilter(options.intervalNs, options.direction);
  }

  /** Adds a batch; returns true when the answer is complete. */
  async addAll(rows: readonly LogRow[]): Promise<boolean> {
    const { lines } = this.#options;
    for (const row of rows) {
      if (this.#kept >= this.#options.limit) return true;
      if (this.#rows.isRepeated(row.timestampNs, row)) continue;
      const made = lines.of(row);
      this.#add(row, made instanceof Promise ? await made : made);
      const pause = lines.pause();
      if (pause !== undefined) await pause;
    }
    return this.#kept >= this.#options.limit;
  }

  /** Number of entries that the answer still needs. */
  get missing(): number {
    return this.#options.limit - this.#kept;
  }

  /** The streams in order of their first entry. */
  streams(): readonly StreamResult[] {
    return [...this.#streams.values()];
  }

  stats(execTimeMs: number): AnswerStats {
    return {
      linesProcessed: this.#lines,
      bytesProcessed: this.#bytes,
      entriesReturned: this.#kept,
      postFilterLines: this.#kept,
      structuredMetadataBytes: this.#metadataBytes,
      execTimeMs,
      splits: 1,
    };
  }

  #add(row: LogRow, line: PipelineLine | undefined): void {
    const { timestampNs } = row;
    this.#count(row);
    if (line === undefined || this.#made.isRepeated(timestampNs, { row, line })) return;
    if (!this.#apart.takes(timestampNs)) return;
    this.#countFormatted(line.formatted);
    const { lines, memory } = this.#options;
    memory.charge(
      logRowBytes(line) + ownLabelsBytes(line.structuredMetadata) + ownLabelsBytes(line.parsed),
      'log lines',
    );
    const labels = line.stream;
    const open = ofKey(this.#streams, labels.key, (): OpenStream => ({ labels, entries: [] }));
    open.entries.push(lines.entry(timestampNs, line));
    this.#kept += 1;
  }

  #count({ line, structuredMetadata }: LogRow): void {
    this.#lines += 1;
    this.#bytes += Buffer.byteLength(line);
    for (const [name, value] of structuredMetadata.labels) this.#metadataBytes += name.length + value.length;
  }

  /** @throws ApiError `lineFormatLimit` */
  #countFormatted(length: number): void {
    this.#formatted += length;
    if (this.#formatted > formatLimits.responseOutput) exceeded('output');
  }
}

function madeIdentity({ row, line }: MadeEntry): string {
  const labels = [row.stream.labels, line.stream, line.structuredMetadata, line.parsed];
  return `${labels.map(({ key }) => key).join('\n')}\n${line.line}`;
}

/** Dependencies of a read of entries. */
interface EntriesContext extends Pick<EngineContext, 'reader' | 'signal' | 'memory'> {
  readonly upstream: RowsUpstream;
  readonly workers: Pick<EngineContext['workers'], 'run'>;
  readonly memories: Pick<EngineContext['memories'], 'densities'>;
}

/**
 * Reads pages of rows in one direction until enough entries pass the residual stages.
 * @param isOver ends the reading before that
 */
export async function collectEntries(
  { filter, recheck, residual }: LogsPlan,
  asked: Pick<CollectorOptions, 'limit' | 'direction' | 'intervalNs'> & {
    readonly range: TimeRange;
    readonly showsGroups: boolean;
  },
  context: EntriesContext,
  isOver = (): boolean => false,
): Promise<EntryCollector> {
  const { limit, direction, intervalNs, showsGroups, range } = asked;
  const { upstream, reader, signal, memory } = context;
  const collector = new EntryCollector({
    ...{ limit, direction, intervalNs, memory },
    lines: new LineMaker({ recheck, residual }, showsGroups, context),
  });
  const keepsAll = residual.length === 0 && intervalNs === 0n;
  const pages = readPages({
    ...{ filter, range, direction, upstream, reader, signal, memory },
    firstPageRows: keepsAll ? limit : Math.max(2 * limit, 1000),
    missing: () => collector.missing,
    densities: context.memories.densities,
  });
  for await (const rows of pages) {
    signal.throwIfAborted();
    if ((await collector.addAll(rows)) || isOver()) break;
  }
  return collector;
}

/** Answers a log query. */
export async function answerLogs(
  plan: LogsPlan,
  request: QueryRangeRequest,
  context: EntriesContext & Pick<EngineContext, 'clock' | 'showsGroups' | 'derive'>,
): Promise<StreamsAnswer> {
  const { clock, showsGroups, derive } = context;
  const startedAt = clock.monotonicMs();
  const collector = await collectEntries(plan, { ...request, showsGroups }, context);
  const streams = collector.streams();
  return {
    kind: 'streams',
    // Derived fields are parsed labels, which are hidden if label groups are.
    streams: showsGroups && derive !== undefined ? derive(streams) : streams,
    stats: collector.stats(clock.monotonicMs() - startedAt),
    warnings: [],
  };
}
