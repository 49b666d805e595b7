import { Pacer } from '../../base/pace/steps.js';
import type { RangeAggregation, Stage } from '../ast.js';
import { compilePipeline } from '../pipeline/output.js';
import { compileExtractor } from '../pipeline/extractor.js';
import { jsonPathsOf, keyPathsCost, type PathsByLabel } from '../pipeline/key-table.js';
import { Meter, TooCostly } from '../pipeline/work-line.js';
import type { ExtractedSample, PipelineEntry, PipelineLine, SampleGroups } from '../pipeline/types.js';
import type { LineWorkers } from './line-workers.js';
import {
  type LineWork,
  receiveLine,
  receivePaths,
  receiveSample,
  type SentLine,
  type SentPaths,
  type SentSample,
} from './work.js';

/** The worker threads for lines that would block the event loop, and the signal that ends waiting for them. */
export interface LinePlace {
  readonly workers: Pick<LineWorkers, 'run'>;
  readonly signal: AbortSignal;
  /** Estimated nanoseconds that a line may cost on the event loop. */
  readonly limit?: number;
  /** The clock of the meter (see Meter), for work whose cost cannot be estimated. */
  readonly nowMs?: (() => number) | undefined;
}

/** Estimates assume the worst line: most lines take a tenth of it. */
const defaultLimit = 8_000_000;

/** Evaluates entries for one query one at a time: each call must wait for the previous result. */
export interface LineEvaluator<Result> {
  /** The result, or a promise of it for a line that is too expensive to be evaluated here. */
  of(entry: PipelineEntry): Result | Promise<Result>;
  /** The estimated nanoseconds that the last line cost here. */
  readonly spent: number;
}

/** Compiles the stages of a log query (see compilePipeline). */
export function pipelineEvaluator(
  stages: readonly Stage[],
  place: LinePlace,
): LineEvaluator<PipelineLine | undefined> {
  const meter = new Meter(place.limit ?? defaultLimit, place.nowMs);
  const work: LineWork = { kind: 'pipeline', stages };
  return new Evaluator(meter, compilePipeline(stages, meter), async (entry) => {
    const sent = await place.workers.run(work, entry, place.signal);
    return sent === undefined ? undefined : receiveLine(sent as SentLine, entry);
  });
}

/** Compiles the sample extraction of a range aggregation (see compileExtractor). */
export function sampleEvaluator(
  range: RangeAggregation,
  pushed: SampleGroups | undefined,
  place: LinePlace,
): LineEvaluator<ExtractedSample | undefined> {
  const meter = new Meter(place.limit ?? defaultLimit, place.nowMs);
  const work: LineWork = { kind: 'sample', range, pushed };
  return new Evaluator(meter, compileExtractor(range, pushed, meter), async (entry) => {
    const sent = await place.workers.run(work, entry, place.signal);
    return sent === undefined ? undefined : receiveSample(sent as SentSample);
  });
}

/** Finds the paths of a JSON line's values (see jsonPathsOf). */
export function keyPathsEvaluator(place: LinePlace): LineEvaluator<PathsByLabel> {
  const meter = new Meter(place.limit ?? defaultLimit, place.nowMs);
  const work: LineWork = { kind: 'key-paths' };
  const here = ({ line, stream }: PipelineEntry): PathsByLabel => {
    meter.start();
    meter.charge(line.length * keyPathsCost);
    return jsonPathsOf(line, stream.labels);
  };
  return new Evaluator(meter, here, async (entry) => {
    return receivePaths((await place.workers.run(work, entry, place.signal)) as SentPaths);
  });
}

class Evaluator<Result> implements LineEvaluator<Result> {
  readonly #meter: Meter;
  readonly #here: (entry: PipelineEntry) => Result;
  readonly #inWorker: (entry: PipelineEntry) => Promise<Result>;

  constructor(
    meter: Meter,
    here: (entry: PipelineEntry) => Result,
    inWorker: (entry: PipelineEntry) => Promise<Result>,
  ) {
    this.#meter = meter;
    this.#here = here;
    this.#inWorker = inWorker;
  }

  get spent(): number {
    return this.#meter.spent;
  }

  of(entry: PipelineEntry): Result | Promise<Result> {
    try {
      return this.#here(entry);
    } catch (error) {
      if (error instanceof TooCostly) return this.#inWorker(entry);
      throw error;
    }
  }
}

/** Nanoseconds per row, apart from its stages. */
const rowCost = 2_000;
/** Estimated cost between two looks at the clock: a look for every row would dominate the cost of cheap rows. */
const lookEvery = 200_000;

/** Lets other work run between lines. */
export class LinePacer {
  readonly #pacer: Pacer;
  #spent = 0;

  constructor(signal: AbortSignal) {
    this.#pacer = new Pacer(signal);
  }

  /** Call after each line with its cost; returns a promise to await when a time slice is used up. */
  after(spent: number): Promise<void> | undefined {
    this.#spent += rowCost + spent;
    if (this.#spent < lookEvery) return undefined;
    this.#spent = 0;
    return this.#pacer.due();
  }
}
