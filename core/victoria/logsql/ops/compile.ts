import type { LogsqlPipe } from '../ast.js';
import { LogsqlError } from '../errors.js';
import type { RowView } from '../row.js';
import { extractOperator, unpackOperator } from './extract.js';
import { formatOperator, packOperator } from './format.js';
import { compileFilter } from '../eval/filter.js';
import { mathOperator } from './math.js';
import { mapRows } from './operator.js';
import type { Operator, PipeContext } from './operator.js';
import { cutOperator, dropEmptyOperator, moveOperator, projectOperator } from './shape.js';
import { sortOperator } from './sort.js';
import { statsOperator } from './stats.js';
import {
  collapseOperator,
  decolorizeOperator,
  deriveOperator,
  replaceOperator,
  splitOperator,
  unrollOperator,
} from './text.js';
import {
  facetsOperator,
  fieldNamesOperator,
  fieldValuesOperator,
  topOperator,
  uniqOperator,
} from './uniq.js';

/**
 * Compiles pipes into an operator that receives rows and passes the resulting rows to `sink`, which returns false if it needs no more. Rows
 * passed to the sink and to `push` may be kept. Blocking pipes emit their results in `finish`.
 * @throws MemoryBudgetError from `push` if a pipe exceeds its memory
 */
export function compilePipes(
  pipes: readonly LogsqlPipe[],
  sink: (row: RowView) => boolean,
  context: PipeContext = {},
): Operator {
  const end: Operator = { push: sink, finish: () => undefined };
  return pipes.reduceRight<Operator>((next, pipe) => compilePipe(pipe, context, next), end);
}

function compilePipe(pipe: LogsqlPipe, context: PipeContext, next: Operator): Operator {
  switch (pipe.kind) {
    case 'fields':
    case 'delete':
      return projectOperator(pipe, next);
    case 'copy':
    case 'rename':
      return moveOperator(pipe, next);
    case 'sort':
    case 'first':
    case 'last':
      return sortOperator(pipe, context, next);
    case 'limit':
    case 'offset':
      return cutOperator(pipe, next);
    case 'stats':
    case 'running_stats':
    case 'total_stats':
      return statsOperator(pipe, context, next);
    case 'uniq':
      return uniqOperator(pipe, context, next);
    case 'top':
      return topOperator(pipe, context, next);
    case 'filter': {
      const matches = compileFilter(pipe.filter, context);
      return mapRows((row) => (matches(row) ? row : undefined), next);
    }
    case 'math':
      return mathOperator(pipe, context, next);
    case 'format':
      return formatOperator(pipe, context, next);
    case 'extract':
    case 'extract_regexp':
      return extractOperator(pipe, context, next);
    case 'unpack_json':
    case 'unpack_logfmt':
      return unpackOperator(pipe, context, next);
    case 'replace':
    case 'replace_regexp':
      return replaceOperator(pipe, context, next);
    case 'len':
    case 'hash':
    case 'json_array_len':
      return deriveOperator(pipe, context, next);
    case 'pack_json':
    case 'pack_logfmt':
      return packOperator(pipe, context, next);
    case 'unroll':
      return unrollOperator(pipe, context, next);
    case 'split':
      return splitOperator(pipe, context, next);
    case 'collapse_nums':
      return collapseOperator(pipe, context, next);
    case 'decolorize':
      return decolorizeOperator(pipe, context, next);
    case 'drop_empty_fields':
      return dropEmptyOperator(next);
    case 'field_names':
      return fieldNamesOperator(pipe, context, next);
    case 'field_values':
      return fieldValuesOperator(pipe, context, next);
    case 'facets':
      return facetsOperator(pipe, context, next);
    case 'union':
      throw new LogsqlError("'union' is a query of its own");
  }
}
