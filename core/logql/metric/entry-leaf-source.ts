import { type LineEvaluator, LinePacer, sampleEvaluator } from '../lines/evaluator.js';
import type { LineWorkers } from '../lines/line-workers.js';
import type { ExtractedSample, PipelineEntry } from '../pipeline/types.js';
import { eachAtPace, Pacer } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import { type PackedEngine, RangeEngine } from './range-engine.js';
import type { Leaf, LeafRequest, LeafSource, MetricLimits, SeriesRow, SeriesTable } from './work.js';
import { rangeFunctions } from '../functions/range/index.js';
import { keepsEmptyLabels } from './shards.js';
import { countSplits, seriesLimitError } from './result.js';
import type { Columns } from './windows.js';
import { apiError } from '../../base/errors/table.js';
import type { ApiError } from '../../base/errors/api-error.js';
import { type LabelSet, labelsText } from '../../base/label-set.js';

/** Provides the entries of a leaf: those that match its selector, in batches of any order, each entry once. */
export interface EntrySource {
  /** Entries outside of the range are ignored. */
  entries(leaf: Leaf, range: TimeRange, signal: AbortSignal): AsyncIterable<readonly PipelineEntry[]>;
}

/** A source of leaves that counts samples from entries in this process. */
export function entryLeafSource(source: EntrySource, workers: Pick<LineWorkers, 'run'>): LeafSource {
  return {
    async series(request: LeafRequest): Promise<SeriesTable> {
      const counter = new EntryCounter(request, workers);
      for await (const batch of source.entries(request.leaf, counter.range, request.signal))
        await counter.add(batch);
      return counter.table();
    },
  };
}

/** Counts the samples of one leaf in entries passed to it. */
export class EntryCounter {
  readonly #request: LeafRequest;
  readonly #leaf: LeafEngine;
  readonly #extract: LineEvaluator<ExtractedSample | undefined>;
  readonly #lines: LinePacer;

  constructor(request: LeafRequest, workers: Pick<LineWorkers, 'run'>) {
    const { leaf, signal } = request;
    this.#request = request;
    this.#leaf = leafEngine(request);
    this.#extract = sampleEvaluator(leaf.range, leaf.pushed ?? leaf.merged, { workers, signal });
    this.#lines = new LinePacer(signal);
  }

  /** The range of relevant entries. */
  get range(): TimeRange {
    return this.#leaf.engine.windows.range;
  }

  /** @throws ApiError `pipelineError`, `seriesLimit` */
  async add(entries: readonly PipelineEntry[]): Promise<void> {
    await addEntries(this.#leaf.engine, this.#extract, entries, this.#lines);
    this.#leaf.checkSeries();
  }

  /** The series of the entries added so far. */
  table(): Promise<SeriesTable> {
    return leafTable(this.#leaf, this.#request.signal);
  }

  /** Packs the series for `unpackTable` in another thread, and empties this counter. */
  async pack(): Promise<PackedEngine> {
    const { engine } = this.#leaf;
    await engine.prepare(new Pacer(this.#request.signal));
    return engine.pack();
  }
}

/** The series packed by a counter of the same request. */
export async function unpackTable(request: LeafRequest, packed: PackedEngine): Promise<SeriesTable> {
  const pacer = new Pacer(request.signal);
  const leaf = leafEngine(request);
  await leaf.engine.load(packed, pacer);
  return leaf.table(pacer);
}

/**
 * Feeds entries to an engine.
 * @throws ApiError `pipelineError` for an entry with an error, unless it is outside all windows
 */
export async function addEntries(
  engine: RangeEngine,
  extract: LineEvaluator<ExtractedSample | undefined>,
  entries: readonly PipelineEntry[],
  pacer: LinePacer,
): Promise<void> {
  for (const entry of entries) {
    if (!engine.isInWindow(entry.timestampNs)) continue;
    // Only a few entries return a promise; awaiting the others would take longer than they do.
    const made = extract.of(entry);
    const sample = made instanceof Promise ? await made : made;
    if (sample?.error !== undefined) throw pipelineError(sample.error, sample.labels);
    if (sample !== undefined) engine.add(sample.labels, entry.timestampNs, sample.value);
    const pause = pacer.after(extract.spent);
    if (pause !== undefined) await pause;
  }
}

/** The engine of a leaf, with its limit on series. */
export interface LeafEngine {
  readonly engine: RangeEngine;
  /** @throws ApiError `seriesLimit` once there are more series than the answer may have */
  readonly checkSeries: () => void;
  /** The series, once the engine is prepared. */
  readonly table: (pacer: Pacer) => Promise<SeriesTable>;
}

/** The series of the samples that were added to a leaf. */
export async function leafTable(
  { engine, table }: LeafEngine,
  signal: AbortSignal | undefined,
): Promise<SeriesTable> {
  const pacer = new Pacer(signal);
  await engine.prepare(pacer);
  return table(pacer);
}

/** A partial answer shows the busiest series out of this many times as many. */
const choice = 20;

/** Number of series that a partial answer is chosen from: the first ones, bounded by a part of the limit on cells. 0 means all. */
function seriesToChooseFrom({ maxSeries, maxCells }: MetricLimits, { count }: Columns): number {
  const most = maxCells === 0 ? Infinity : Math.floor(maxCells / 4 / count);
  return Math.max(maxSeries, Math.min(choice * maxSeries, most));
}

/** @param isTallied see EngineOptions */
export function leafEngine(
  { leaf, columns, limits }: Omit<LeafRequest, 'signal'>,
  isTallied = false,
): LeafEngine {
  const { maxSeries, isPartial } = limits;
  const kept = leaf.isRoot && isPartial ? seriesToChooseFrom(limits, columns) : 0;
  const engine = new RangeEngine(leaf.range, columns, limits, {
    folded: leaf.pushed ?? leaf.folded,
    maxSeries: kept,
    keepsEmpty: keepsEmptyLabels(leaf),
    isTallied,
  });
  // Every series has a sample in at least one split, and the limit applies to each split.
  const isBounded = (leaf.isRoot || leaf.isCapped) && !isPartial && maxSeries > 0;
  const most = leaf.isRoot ? maxSeries : maxSeries * countSplits(columns, limits.splitMs);
  return {
    engine,
    checkSeries() {
      if (isBounded && engine.seriesCount > most) throw seriesLimitError(maxSeries);
    },
    async table(pacer) {
      const labels = rangeFunctions[leaf.range.op].ofNothing?.(leaf.range);
      return {
        rows:
          labels === undefined ? engine.rows() : await rowsOfNothing(labels, engine.rows(), columns, pacer),
        isCut: engine.isCut,
        isGrouped: engine.isDistinct,
      };
    },
  };
}

/** Adds the series that is 1 wherever no other one has a sample. */
async function rowsOfNothing(
  labels: LabelSet,
  rows: Iterable<SeriesRow>,
  { count }: Columns,
  pacer: Pacer,
): Promise<readonly SeriesRow[]> {
  const present = new Uint8Array(count).fill(1);
  await eachAtPace(rows, pacer, (row) => {
    for (let column = 0; column < count; column += 1) if (row.present[column] === 1) present[column] = 0;
  });
  return present.includes(1) ? [{ labels, values: new Float64Array(count).fill(1), present }] : [];
}

/** The error of a metric query over an entry with `__error__` (docs/protocol/errors-and-limits.md#pipeline-errors). */
export function pipelineError(error: string, labels: LabelSet): ApiError {
  return apiError('pipelineError', { error, series: labelsText(labels) });
}
