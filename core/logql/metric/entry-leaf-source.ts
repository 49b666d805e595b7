import { sampleEvaluator, type LineEvaluator } from '../lines/evaluator.js';
import { LinePacer } from '../lines/line-pacer.js';
import type { LineWorkers } from '../lines/line-workers.js';
import type { ExtractedSample, PipelineEntry } from '../pipeline/types.js';
import { Pacer } from '../../base/pace/pacer.js';
import { pipelineError } from './pipeline-error.js';
import { leafEngine, type LeafEngine } from './leaf-engine.js';
import type { PackedEngine, RangeEngine } from './range-engine.js';
import type { Leaf, LeafRequest, LeafSource, SeriesTable } from './types.js';

/** Provides the entries for a leaf: those its selector finds, in batches of any order, each entry once. */
export interface EntrySource {
  /** The interval includes both ends; entries outside it are ignored. */
  entries(
    leaf: Leaf,
    interval: { readonly fromNs: bigint; readonly toNs: bigint },
    signal: AbortSignal,
  ): AsyncIterable<readonly PipelineEntry[]>;
}

/** A source of leaves that counts samples from entries in this process. */
export function entryLeafSource(source: EntrySource, workers: Pick<LineWorkers, 'run'>): LeafSource {
  return {
    async series(request: LeafRequest): Promise<SeriesTable> {
      const counter = new EntryCounter(request, workers);
      for await (const batch of source.entries(request.leaf, counter.interval, request.signal))
        await counter.add(batch);
      return counter.table();
    },
  };
}

/** Counts the samples of one leaf in entries that are handed to it. */
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

  /** Where entries matter, with both ends. */
  get interval(): { readonly fromNs: bigint; readonly toNs: bigint } {
    return this.#leaf.engine.windows.interval;
  }

  /** @throws ApiError `pipelineError`, `seriesLimit` */
  async add(entries: readonly PipelineEntry[]): Promise<void> {
    await addEntries(this.#leaf.engine, this.#extract, entries, this.#lines);
    this.#leaf.checkSeries();
  }

  /** The series of what has been added. */
  async table(): Promise<SeriesTable> {
    const pacer = new Pacer(this.#request.signal);
    await this.#leaf.engine.prepare(pacer);
    return this.#leaf.table(pacer);
  }

  /** The same for `unpackTable` in another thread; nothing is left here. */
  async pack(): Promise<PackedEngine> {
    const { engine } = this.#leaf;
    await engine.prepare(new Pacer(this.#request.signal));
    return engine.pack();
  }
}

/** The series that a counter with the same request has packed. */
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
