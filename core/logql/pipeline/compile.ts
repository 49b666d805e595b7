import { apiError } from '../../errors/table.js';
import type { Stage } from '../ast.js';
import { LabelSet } from '../../labels/label-set.js';
import { compileLabelFilter, type LabelGroups } from './label-filter.js';
import { compileLineFilter } from './line-filter.js';

/** A stored entry, as the stages take it. */
export interface StagesInput {
  readonly timestampNs: bigint;
  readonly line: string;
  readonly stream: LabelSet;
  readonly structuredMetadata: LabelSet;
}

/** What comes out of the stages; the three groups of labels stay apart for categorized answers. */
export interface StagesOutput extends LabelGroups {
  readonly line: string;
}

/** The stages of a query, ready to run; undefined for a line that they drop. */
export type Pipeline = (entry: StagesInput) => StagesOutput | undefined;

type Test = (line: StagesOutput) => boolean;

/**
 * Compiles the stages of a query, once per query.
 * @throws ApiError `stageNotYet` for a stage that is not evaluated here
 */
export function compilePipeline(stages: readonly Stage[]): Pipeline {
  const tests = stages.map(compileStage);
  return ({ line, stream, structuredMetadata }) => {
    const output: StagesOutput = { line, stream, structuredMetadata, parsed: LabelSet.empty };
    return tests.every((test) => test(output)) ? output : undefined;
  };
}

function compileStage(stage: Stage): Test {
  switch (stage.kind) {
    case 'line-filter': {
      const test = compileLineFilter(stage);
      return ({ line }) => test(line);
    }
    case 'label-filter': {
      const test = compileLabelFilter(stage.filter);
      if (test === undefined) throw apiError('stageNotYet', { stage: stage.filter.kind });
      return test;
    }
    case 'json':
    case 'logfmt':
    case 'regexp':
    case 'pattern':
    case 'unpack':
    case 'decolorize':
    case 'line-format':
    case 'label-format':
    case 'drop':
    case 'keep':
      throw apiError('stageNotYet', { stage: stage.kind });
  }
}
