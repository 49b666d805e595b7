import type { Answer, NamesAnswer } from '../../core/wire/answer/types.js';
import type { Tenant } from '../../core/base/caller.js';
import { readAhead } from '../../core/wire/api/read-ahead.js';
import type { ApiRequest, Browse } from '../../core/wire/api/request.js';
import type { Limits } from '../../core/wire/limits/limits.js';
import { binaryLimits } from '../../core/logql/metric/index.js';
import { apiError } from '../../core/base/errors/table.js';
import type { MergeOptions } from '../../core/wire/answer/merge/index.js';
import type { Part, Strategy, TenantMerge } from '../../core/operations/descriptor.js';
import { operationOf, oversizedText } from '../../core/operations/index.js';
import { once } from '../../core/operations/rules/tenants.js';
import { isFound, pageOf } from '../../core/operations/rules/paging.js';
import { tenantLabel } from '../../core/operations/rules/tenant-names.js';
import type { Exchange, Rest } from '../../core/plugin/index.js';
import { answerApart } from './apart.js';
import { fanOut } from './fan-out.js';
import { answerTogether } from './metric.js';
import { isScan, partsOfNewest } from './newest.js';
import { labelAnswer } from './tenant-label.js';

/** Answers a request over several tenants (docs/protocol/tenants.md#several-tenants). */
export async function answerSeveral(
  exchange: Exchange,
  rest: Rest<'tenant'>,
  tenants: readonly [Tenant, ...Tenant[]],
  limits: Pick<Limits, 'of' | 'process'>,
): Promise<Answer> {
  const { request } = exchange;
  const { tenants: rule, empty } = operationOf(request);
  if (rule.kind === 'refused') throw apiError(rule.error, {});
  const strategy = await chooseStrategy(exchange, rule, tenants, limits.process.maxQueryLengthBytes);
  switch (strategy.kind) {
    case 'once':
      return rest(exchange.derive<'tenant'>({ slots: { tenant: tenants[0] }, isFinal: false }));
    case 'together': {
      const { maxQuerySeries } = limits.of(tenants.map(({ id }) => id));
      return answerTogether(exchange, strategy.request, strategy.expr, rest, tenants, {
        maxSeries: maxQuerySeries,
        binary: binaryLimits(limits.process),
        approxTopk: limits.process.approxTopk,
      });
    }
    case 'tenant-names':
      return names(strategy.tenantIds, strategy.browse);
    case 'merge': {
      const run = async ({ tenant, request: part }: Part, signal: AbortSignal): Promise<Answer> => {
        const derived = exchange.derive<'tenant'>({
          request: part,
          slots: { tenant },
          signal,
          isFinal: false,
        });
        return labelAnswer(await rest(derived), tenant.id, !exchange.caller.categorizeLabels);
      };
      const merge = (parts: readonly Part[], options: MergeOptions): Promise<Answer | undefined> =>
        fanOut(parts, run, {
          merge: options,
          maxBytes: limits.process.multiTenantMaxMergedResponseBytes,
          signal: exchange.signal,
        });
      const isApart = request.op === 'query_range' && request.intervalNs > 0n;
      const parts = isScan(request) ? await partsOfNewest(request, strategy.parts, merge) : strategy.parts;
      const merged = await (isApart
        ? answerApart(request, parts, merge, exchange.signal)
        : merge(parts, rule.mergeOptions(request)));
      return merged === undefined ? empty(request) : rule.finish(merged, request);
    }
  }
}

async function chooseStrategy(
  { request, signal }: Exchange,
  rule: TenantMerge<ApiRequest>,
  tenants: readonly Tenant[],
  maxQueryBytes: number,
): Promise<Strategy> {
  // The guard refuses a text that is too long, for every tenant alike, so it is not parsed here first.
  if (oversizedText(request, maxQueryBytes) !== undefined) return once;
  await readAhead(request, signal);
  return rule.strategy(request, tenants);
}

/** A tenant that is asked for alone is the value of the label that would tell several apart, whatever is selected. */
export function ownName(request: ApiRequest, { id }: Tenant): NamesAnswer | undefined {
  const isAsked = request.op === 'label_values' && request.name === tenantLabel && id !== '';
  return isAsked ? names([id], request.browse) : undefined;
}

function names(values: readonly string[], browse: Browse): NamesAnswer {
  const found = values.filter((value) => isFound(value, browse));
  return { kind: 'names', values: pageOf(found, browse), warnings: [] };
}
