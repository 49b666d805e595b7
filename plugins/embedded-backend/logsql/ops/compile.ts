import { LogsqlError } from '../../../../core/victoria/logsql/errors.js';
import { operatorOf, compilePipes } from '../../../../core/victoria/logsql/ops/compile.js';
import { formatOperator } from '../../../../core/victoria/logsql/ops/format.js';
import { PipeBudget, type Operator } from '../../../../core/victoria/logsql/ops/operator.js';
import { sortOperator } from '../../../../core/victoria/logsql/ops/sort.js';
import { uniqOperator } from '../../../../core/victoria/logsql/ops/uniq.js';
import type { RowView } from '../../../../core/victoria/logsql/row.js';
import type { EmbeddedPipe } from '../ast.js';
import { printEmbeddedPipe } from '../print.js';
import { embeddedOption } from './format.js';
import { facetsOperator, fieldNamesOperator, topOperator } from './counts.js';
import { packLogfmtOperator, unpackLogfmtOperator } from './logfmt.js';
import { mathOperator } from './math.js';
import { embeddedStatsOperator, type EmbeddedContext } from './stats.js';
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
      return sortOperator(
        { ...pipe, kind: 'sort', desc: pipe.kind === 'last', limit: pipe.count },
        budget,
        next,
      );
    case 'offset':
      return offsetOperator(pipe, next);
    case 'stats':
    case 'running_stats':
    case 'total_stats':
      return embeddedStatsOperator(pipe, context, budget, next);
    case 'top':
      return topOperator(pipe, budget, next);
    case 'format':
      return formatOperator(pipe, context, next, embeddedOption);
    case 'math':
      return mathOperator(pipe, context, next);
    case 'unpack_logfmt':
      return unpackLogfmtOperator(pipe, context, next);
    case 'replace':
    case 'replace_regexp':
      return limitedReplaceOperator(pipe, context, next);
    case 'len':
    case 'hash':
    case 'json_array_len':
      return deriveOperator(pipe, context, next);
    case 'pack_logfmt':
      return packLogfmtOperator(pipe, context, next);
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
