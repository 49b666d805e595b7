import type { TimeRange } from '../base/time/range.js';
import type { ApiRequest } from '../wire/api/request.js';
import type { NameLearner } from '../victoria/names/name-learner.js';
import type { Naming } from '../victoria/names/naming.js';
import { leavesOfPlan, refinePlan, rowsToLearnFrom } from './plan/refine.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Plan } from './plan/types.js';

type Refinable = Exchange<'tenant' | 'plan' | 'upstream'>;

/** The plan of an exchange, refined by the backend's stored names. They are only requested when they matter. */
export async function refinedPlan(
  { slots, request }: Refinable,
  naming: Naming,
  learner: NameLearner,
): Promise<Plan> {
  const { plan, upstream, tenant } = slots;
  const filter = rowsToLearnFrom(plan, naming);
  const range = rangeRead(request, plan);
  if (filter === undefined || range === undefined) return plan;
  const names = await learner.learn({ tenantId: tenant.id, naming, filter, range, upstream });
  return names === undefined ? plan : refinePlan(plan, names, naming);
}

/** The full time range in which a request reads rows; undefined for requests without a range. */
function rangeRead(request: ApiRequest, plan: Plan): TimeRange | undefined {
  const asked =
    request.op === 'query'
      ? { startNs: request.timeNs, endNs: request.timeNs }
      : 'range' in request
        ? request.range
        : undefined;
  if (asked === undefined) return undefined;
  let { startNs, endNs } = asked;
  for (const { range } of leavesOfPlan(plan)) {
    const { intervalNanoseconds, offsetNanoseconds } = range.range;
    const first = asked.startNs - offsetNanoseconds - intervalNanoseconds;
    const last = asked.endNs - offsetNanoseconds;
    if (first < startNs) startNs = first;
    if (last > endNs) endNs = last;
  }
  return { startNs, endNs: endNs + 1n };
}
