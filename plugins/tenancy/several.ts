import type { MergeOptions } from '../../core/wire/answer/merge/index.js';
import type { Answer, NamesAnswer } from '../../core/wire/answer/types.js';
import type { Tenant } from '../../core/base/caller.js';
import { readAhead } from '../../core/wire/api/read-ahead.js';
import type { ApiRequest, Browse } from '../../core/wire/api/request.js';
import type { Limits } from '../../core/wire/limits/limits.js';
import { binaryLimits } from '../../core/logql/metric/index.js';
import type { Exchange, Rest } from '../../core/plugin/index.js';
import { emptyAnswer } from './empty-answer.js';
import { fanOut } from './fan-out.js';
import { answerTogether } from './metric.js';
import { isFound, pageOf } from './paging.js';
import { chooseStrategy } from './strategy.js';
import { labelAnswer, tenantLabel } from './tenant-label.js';

/** Answers a request over several tenants (docs/protocol/tenants.md#several-tenants). */
export async function answerSeveral(
  exchange: Exchange,
  rest: Rest<'tenant'>,
  tenants: readonly [Tenant, ...Tenant[]],
  limits: Pick<Limits, 'of' | 'process'>,
): Promise<Answer> {
  const { request } = exchange;
  await readAhead(request, exchange.signal);
  const strategy = chooseStrategy(request, tenants, limits.process.maxQueryLengthBytes);
  switch (strategy.kind) {
    case 'once':
      return rest(exchange.derive<'tenant'>({ slots: { tenant: tenants[0] }, isFinal: false }));
    case 'together': {
      const { maxQuerySeries } = limits.of(tenants.map(({ id }) => id));
      return answerTogether(exchange, strategy.request, strategy.expr, rest, tenants, {
        maxSeries: maxQuerySeries,
        binary: binaryLimits(limits.process),
      });
    }
    case 'tenant-names':
      return names(strategy.tenantIds, browseOf(request));
    case 'merge': {
      const merged = await fanOut(
        strategy.parts,
        async ({ tenant, request: part }, signal) => {
          const derived = exchange.derive<'tenant'>({
            request: part,
            slots: { tenant },
            signal,
            isFinal: false,
          });
          return labelAnswer(await rest(derived), tenant.id, !exchange.caller.categorizeLabels);
        },
        {
          merge: mergeOptions(request),
          maxBytes: limits.process.multiTenantMaxMergedResponseBytes,
          signal: exchange.signal,
        },
      );
      return merged === undefined ? emptyAnswer(request) : finish(merged, request);
    }
  }
}

function mergeOptions(request: ApiRequest): MergeOptions {
  return request.op === 'query_range'
    ? { direction: request.direction, limit: request.limit }
    : { direction: 'backward' };
}

/** Adds the tenant label to label names, and cuts listings to the page that was asked for. */
function finish(answer: Answer, request: ApiRequest): Answer {
  if (answer.kind !== 'names') return cut(answer, request);
  const browse = browseOf(request);
  if (request.op !== 'labels') return { ...answer, values: pageOf(answer.values, browse) };
  const added = isFound(tenantLabel, browse) ? [...answer.values, tenantLabel].sort() : answer.values;
  return { ...answer, values: pageOf(added, browse) };
}

/** What is biggest or first over all tenants is known only now. */
function cut(answer: Answer, request: ApiRequest): Answer {
  switch (answer.kind) {
    case 'volume':
      return 'limit' in request ? { ...answer, series: answer.series.slice(0, request.limit) } : answer;
    case 'patterns':
      return 'limit' in request ? { ...answer, patterns: answer.patterns.slice(0, request.limit) } : answer;
    case 'detected-fields':
      return { ...answer, fields: answer.fields.slice(0, answer.limit) };
    case 'detected-field-values':
      return { ...answer, values: answer.values.slice(0, answer.limit) };
    default:
      return answer;
  }
}

function names(values: readonly string[], browse: Browse): NamesAnswer {
  const found = values.filter((value) => isFound(value, browse));
  return { kind: 'names', values: pageOf(found, browse), warnings: [] };
}

function browseOf(request: ApiRequest): Browse {
  return request.op === 'labels' || request.op === 'label_values' ? request.browse : {};
}
