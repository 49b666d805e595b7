import { LabelSet } from '../../base/label-set.js';
import {
  type LineEvaluator,
  LinePacer,
  type LinePlace,
  pipelineEvaluator,
} from '../../logql/lines/evaluator.js';
import type { PipelineLine } from '../../logql/pipeline/types.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import type { LogsPlan } from '../plan/types.js';
import type { LiveEntry } from '../../wire/answer/types.js';

/** An entry with its stored stream; within a stream, lines are sent in time order. */
export interface TailLine extends LiveEntry {
  readonly stream: string;
}

/** Makes the entry of a row as a range query would show it; undefined if the residual stages drop it. */
export class LineMaker {
  readonly #recheck: LineEvaluator<PipelineLine | undefined>;
  readonly #residual: LineEvaluator<PipelineLine | undefined>;
  readonly #pacer: LinePacer;
  readonly #showsGroups: boolean;

  /** @param showsGroups false if the third element of tuples must stay empty */
  constructor(plan: LogsPlan, showsGroups: boolean, place: LinePlace) {
    this.#recheck = pipelineEvaluator(plan.recheck, place);
    this.#residual = pipelineEvaluator(plan.residual, place);
    this.#pacer = new LinePacer(place.signal);
    this.#showsGroups = showsGroups;
  }

  async make(row: LogRow): Promise<TailLine | undefined> {
    const { timestampNs, line, stream, structuredMetadata, isRebuilt } = row;
    const read = { timestampNs, line, stream: stream.labels, structuredMetadata };
    if (isRebuilt && (await this.#recheck.of(read)) === undefined) return undefined;
    const made = await this.#residual.of(read);
    await this.#pacer.after(this.#residual.spent);
    if (made === undefined) return undefined;
    return {
      stream: stream.labels.key,
      labels: made.stream,
      entry: {
        timestampNs,
        line: made.line,
        structuredMetadata: this.#showsGroups ? made.structuredMetadata : LabelSet.empty,
        parsed: this.#showsGroups ? made.parsed : LabelSet.empty,
      },
    };
  }
}
