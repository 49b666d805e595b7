import { apiError } from '../../core/base/errors/table.js';
import { nanosPerSecond } from '../../core/base/time/index.js';
import { chooseGreatest } from '../../core/logql/functions/vector/index.js';
import {
  logQueriesOf,
  printPlain,
  type LogExpr,
  type Stage,
  type VectorAggregation,
} from '../../core/logql/index.js';
import {
  parseInstantQuery,
  parseQueryRange,
  type ParamContext,
  type Params,
} from '../../core/wire/api/params/index.js';
import type { QueryRequest } from '../../core/wire/api/request.js';
import { withParsers } from './edit.js';
import { lineCounts } from './line-counts.js';

/** Number of values of a field with their counts. */
const mostValues = 10;

const span = { start: 0, end: 0 } as const;

/**
 * The request for the most frequent values of `field` among the lines of `query` in a range:
 * `topk(10, sum by (field) (count_over_time(<lines> | field!="" | drop __error__ [range])))`. `parser` names the parsers that find the field,
 * which are added where the query has them not. Of a metric query, the lines are those of its first selector.
 * @throws ApiError for a query without lines, LogqlError with Loki's text for a query or a name it rejects
 */
export function topValuesRequest(params: Params, context: ParamContext): QueryRequest {
  const { query, range } = parseQueryRange(params, context);
  const [lines] = logQueriesOf(query.ast);
  if (lines === undefined) throw apiError('badRequest', { text: 'the query selects no lines' });
  const rangeNs = range.endNs - range.startNs;
  // Whole seconds, at least one.
  const seconds = rangeNs / nanosPerSecond + (rangeNs % nanosPerSecond === 0n ? 0n : 1n);
  const intervalNs = (seconds > 0n ? seconds : 1n) * nanosPerSecond;
  const counted = topOf(lines, params.get('field')?.[0] ?? '', params.get('parser') ?? [], intervalNs);
  // Printed and parsed again, so that a name that is none is refused.
  return parseInstantQuery(
    new Map([
      ['query', [printPlain(counted)]],
      ['time', [String(range.endNs)]],
    ]),
    context,
  );
}

function topOf(
  lines: LogExpr,
  field: string,
  parsers: readonly string[],
  intervalNanoseconds: bigint,
): VectorAggregation {
  const parsed = withParsers(lines, parsers);
  const hasField: Stage = {
    kind: 'label-filter',
    filter: { kind: 'string', name: field, op: '!=', value: '', span },
    span,
  };
  const query: LogExpr = { ...parsed, stages: [...parsed.stages, hasField] };
  return {
    kind: 'vector-aggregation',
    op: chooseGreatest,
    parameter: mostValues,
    grouping: undefined,
    expr: lineCounts(query, [field], intervalNanoseconds),
    span,
  };
}
