import type { LogsqlPipe } from '../ast.js';
import { LogsqlError } from '../errors.js';
import { compileFilter } from '../eval/filter.js';
import { printPipe } from '../print.js';
import type { RowView } from '../row.js';
import { extractor, jsonUnpacker } from './extract.js';
import { formatter, packer, packJson } from './format.js';
import { mapRows, PipeBudget, type Operator, type PipeContext } from './operator.js';
import { cutOperator, moveOperator, projectOperator } from './shape.js';
import { sortOperator } from './sort.js';
import { statsOperator } from './stats.js';
import { uniqOperator } from './uniq.js';
import { replacer, updateOperator } from './update.js';

/**
 * Compiles pipes into an operator that receives rows and passes the resulting rows to `sink`, which returns false if it needs no more. Rows
 * passed to the sink and to `push` may be kept. Blocking pipes emit their results in `finish`.
 * @param compile compiles one pipe, whose rows go to `next`
 * @throws MemoryBudgetError from `push` if a pipe exceeds its memory
 */
export function compilePipes<Pipe>(
  pipes: readonly Pipe[],
  compile: (pipe: Pipe, next: Operator) => Operator,
  sink: (row: RowView) => boolean,
): Operator {
  const end: Operator = { push: sink, finish: () => undefined };
  return pipes.reduceRight<Operator>((next, pipe) => compile(pipe, next), end);
}

/** Compiles a pipe that the proxy evaluates itself. */
export function operatorOf(pipe: LogsqlPipe, context: PipeContext, next: Operator): Operator {
  const budget = new PipeBudget(() => printPipe(pipe), context);
  switch (pipe.kind) {
    case 'fields':
      return projectOperator(pipe, next);
    case 'copy':
    case 'rename':
      return moveOperator(pipe, next);
    case 'sort':
      return sortOperator(pipe, budget, next);
    case 'limit':
      return cutOperator(pipe, next);
    case 'stats':
      return statsOperator(pipe, context, budget, next);
    case 'uniq':
      return uniqOperator(pipe, budget, next);
    case 'filter': {
      const matches = compileFilter(pipe.filter, context);
      return mapRows((row) => (matches(row) ? row : undefined), next);
    }
    case 'format':
      return updateOperator(pipe, context, formatter(pipe), next);
    case 'extract':
    case 'extract_regexp':
      return updateOperator(pipe, context, extractor(pipe), next);
    case 'unpack_json':
      return updateOperator(pipe, context, jsonUnpacker(pipe), next);
    case 'replace':
      return updateOperator(pipe, context, replacer(pipe), next);
    case 'pack_json':
      return updateOperator({}, context, packer(pipe, packJson), next);
    case 'field_names':
    case 'math':
    case 'union':
      throw new LogsqlError(`'${pipe.kind}' is evaluated by the backend only`);
  }
}
