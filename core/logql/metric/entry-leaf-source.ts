import { compileExtractor, type SampleExtractor } from '../pipeline/extractor.js';
import type { PipelineEntry } from '../pipeline/types.js';
import { absentRows } from './absent.js';
import { Pacer } from './pacer.js';
import { pipelineError } from './pipeline-error.js';
import { leafEngine } from './leaf-engine.js';
import type { RangeEngine } from './range-engine.js';
import type { Leaf, LeafRequest, LeafSource, SeriesTable } from './types.js';

/** Gives the entries a leaf reads: those its selector finds, in batches of any order, each entry once. */
export interface EntrySource {
  /** Both ends of the interval belong to it; entries outside of it do no harm. */
  entries(
    leaf: Leaf,
    interval: { readonly fromNs: bigint; readonly toNs: bigint },
    signal: AbortSignal,
  ): AsyncIterable<readonly PipelineEntry[]>;
}

/** A source of leaves that counts samples itself, from entries. */
export function entryLeafSource(source: EntrySource): LeafSource {
  return {
    async series(request: LeafRequest): Promise<SeriesTable> {
      const { leaf, columns, signal } = request;
      const { engine, checkSeries } = leafEngine(request);
      const extract = compileExtractor(leaf.range, leaf.pushed);
      const pacer = new Pacer(signal);
      for await (const batch of source.entries(leaf, engine.windows.interval, signal)) {
        addEntries(engine, extract, batch);
        checkSeries();
        const pause = pacer.due();
        if (pause !== undefined) await pause;
      }
      await engine.prepare(pacer);
      const rows = engine.rows();
      const isAbsent = leaf.range.op === 'absent_over_time';
      return {
        rows: isAbsent ? absentRows(leaf.range, rows, columns) : rows,
        isCut: engine.isCut,
        isGrouped: engine.isDistinct,
      };
    },
  };
}

/**
 * Feeds entries to an engine.
 * @throws ApiError `pipelineError` for one that has an error, unless no window sees it
 */
export function addEntries(
  engine: RangeEngine,
  extract: SampleExtractor,
  entries: readonly PipelineEntry[],
): void {
  for (const entry of entries) {
    if (!engine.isInWindow(entry.timestampNs)) continue;
    const sample = extract(entry);
    if (sample === undefined) continue;
    if (sample.error !== undefined) throw pipelineError(sample.error, sample.labels);
    engine.add(sample.labels, entry.timestampNs, sample.value);
  }
}
