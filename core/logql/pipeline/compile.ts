import { apiError } from '../../errors/table.js';
import type { Stage } from '../ast.js';
import { compileLabelFilter } from './label-filter.js';
import { compileLineFilter } from './line-filter.js';
import type { CompiledStage, PipelineLine } from './types.js';

/** The stages of a query, ready to run; undefined for a line that they drop. */
export type Pipeline = (line: PipelineLine) => PipelineLine | undefined;

/**
 * Compiles the stages of a query, once per query.
 * @throws ApiError `stageNotYet` for a stage that is not evaluated here
 */
export function compilePipeline(stages: readonly Stage[]): Pipeline {
  const compiled = stages.map(compileStage);
  return (line) => {
    let current: PipelineLine | undefined = line;
    for (const stage of compiled) {
      current = stage(current);
      if (current === undefined) return undefined;
    }
    return current;
  };
}

function compileStage(stage: Stage): CompiledStage {
  switch (stage.kind) {
    case 'line-filter': {
      const test = compileLineFilter(stage);
      return (line) => (test(line.line) ? line : undefined);
    }
    case 'label-filter': {
      const test = compileLabelFilter(stage.filter);
      if (test === undefined) throw apiError('stageNotYet', { stage: stage.filter.kind });
      return (line) => (test(line) ? line : undefined);
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
