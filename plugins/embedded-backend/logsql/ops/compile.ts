import { LogsqlError } from '../../../../core/victoria/logsql/errors.js';
import { operatorOf, compilePipes } from '../../../../core/victoria/logsql/ops/compile.js';
import { extractor, jsonUnpacker, unpacker } from '../../../../core/victoria/logsql/ops/extract.js';
import { formatter, packer } from '../../../../core/victoria/logsql/ops/format.js';
import { PipeBudget, type Operator } from '../../../../core/victoria/logsql/ops/operator.js';
import { uniqOperator } from '../../../../core/victoria/logsql/ops/uniq.js';
import { type ColumnsMaker, updateOperator } from '../../../../core/victoria/logsql/ops/update.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import type { EmbeddedPipe, UpdateRule } from '../ast.js';
import { printEmbeddedPipe } from '../print.js';
import { embeddedOption } from './format.js';
import { facetsOperator, fieldNamesOperator, topOperator } from './counts.js';
import { packLogfmt, parseLogfmt } from './logfmt.js';
import { mathOperator } from './math.js';
import { embeddedStatsOperator, type EmbeddedContext } from './stats.js';
import { SortOperator } from './sort.js';
import { deleteOperator, dropEmptyOperator, offsetOperator } from './shape.js';
import {
  collapseOperator,
  decolorizeOperator,
  deriveOperator,
  limitedReplaceOperator,
  splitOperator,
  unrollOperator,
} from './text.js';

/** Compiles the pipes of a query; see compilePipes. */
export function compileEmbeddedPipes(
  pipes: readonly EmbeddedPipe[],
  sink: (row: RowView) => boolean,
  context: EmbeddedContext = {},
): Operator {
  return compilePipes(pipes, (pipe, next) => compileEmbeddedPipe(pipe, context, next), sink);
}

function compileEmbeddedPipe(pipe: EmbeddedPipe, context: EmbeddedContext, next: Operator): Operator {
  const budget = new PipeBudget(() => printEmbeddedPipe(pipe), context);
  switch (pipe.kind) {
    case 'delete':
      return deleteOperator(pipe, next);
    case 'first':
    case 'last':
      return new SortOperator(
        { ...pipe, kind: 'sort', desc: pipe.kind === 'last', limit: pipe.count },
        budget,
        next,
      );
    case 'sort':
      return new SortOperator(pipe, budget, next);
    case 'offset':
      return offsetOperator(pipe, next);
    case 'stats':
    case 'running_stats':
    case 'total_stats':
      return embeddedStatsOperator(pipe, context, budget, next);
    case 'top':
      return topOperator(pipe, budget, next);
    case 'format':
      return updateOperator(pipe, context, ruled(pipe, formatter(pipe, embeddedOption)), next);
    case 'extract':
    case 'extract_regexp':
      return updateOperator(pipe, context, ruled(pipe, extractor(pipe)), next);
    case 'unpack_json':
      return updateOperator(pipe, context, ruled(pipe, jsonUnpacker(pipe)), next);
    case 'math':
      return mathOperator(pipe, context, next);
    case 'unpack_logfmt':
      return updateOperator(pipe, context, ruled(pipe, unpacker(pipe, parseLogfmt)), next);
    case 'replace':
    case 'replace_regexp':
      return limitedReplaceOperator(pipe, context, next);
    case 'len':
    case 'hash':
    case 'json_array_len':
      return deriveOperator(pipe, context, next);
    case 'pack_logfmt':
      return updateOperator({}, context, packer(pipe, packLogfmt), next);
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
      return fieldNamesOperator(pipe, budget, next);
    case 'field_values': {
      const { field, limit } = pipe;
      const values = {
        kind: 'uniq' as const,
        by: [field],
        hits: true,
        ...(limit === undefined ? {} : { limit }),
      };
      return uniqOperator(values, budget, next);
    }
    case 'facets':
      return facetsOperator(pipe, budget, next);
    case 'union':
      throw new LogsqlError("'union' is a query of its own");
    default:
      return operatorOf(pipe, context, next);
  }
}

/** The columns that a pipe with this rule writes. */
function ruled({ rule }: UpdateRule, columnsOf: ColumnsMaker): ColumnsMaker {
  if (rule === undefined) return columnsOf;
  return (row) =>
    columnsOf(row).filter(([name, value]) => (rule === 'skip-empty' ? value !== '' : row.get(name) === ''));
}
