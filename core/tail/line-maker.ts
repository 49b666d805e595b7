import { LabelSet } from '../labels/label-set.js';
import { compilePipeline, type Pipeline } from '../logql/pipeline/compile.js';
import type { LogRow } from '../names/row-reader.js';
import type { LogsPlan } from '../plan/types.js';
import type { LiveEntry } from './types.js';

/** Makes the entry of a row as a range query would show it; undefined when the residual stages drop it. */
export class LineMaker {
  readonly #recheck: Pipeline;
  readonly #residual: Pipeline;
  readonly #showsGroups: boolean;

  /** `showsGroups` is false when the third tuple element is to stay empty. */
  constructor(plan: LogsPlan, showsGroups: boolean) {
    this.#recheck = compilePipeline(plan.recheck);
    this.#residual = compilePipeline(plan.residual);
    this.#showsGroups = showsGroups;
  }

  make({ timestampNs, line, stream, structuredMetadata, isRebuilt }: LogRow): LiveEntry | undefined {
    const read = { timestampNs, line, stream: stream.labels, structuredMetadata };
    if (isRebuilt && this.#recheck(read) === undefined) return undefined;
    const made = this.#residual(read);
    if (made === undefined) return undefined;
    return {
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
