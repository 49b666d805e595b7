import { createHash } from 'node:crypto';
import type { Caller } from '../base/caller.js';
import { dataOwner } from '../base/keys/data-owner.js';
import type { TimeRange } from '../base/time/range.js';
import { leavesOf } from '../logql/metric/index.js';
import type { ApiRequest } from '../wire/api/request.js';
import type { NameLearner } from '../victoria/names/name-learner.js';
import type { Naming } from '../victoria/names/naming.js';
import { refinePlan, rowsToLearnFrom } from './plan/refine.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Plan } from './plan/types.js';

type Refinable = Exchange<'tenant' | 'plan' | 'upstream'>;

/** The plan of an exchange, refined by the backend's stored names. They are only requested when they matter. */
export async function refinedPlan(
  { slots, request, caller }: Refinable,
  naming: Naming,
  learner: NameLearner,
): Promise<Plan> {
  const { plan, upstream, tenant } = slots;
  const filter = rowsToLearnFrom(plan, naming);
  const range = rangeRead(request, plan);
  if (filter === undefined || range === undefined) return plan;
  const owner = dataOwner(tenant, credentialsOf(caller));
  const names = await learner.learn({ owner, tenantId: tenant.id, naming, filter, range, upstream });
  return names === undefined ? plan : refinePlan(plan, names, naming);
}

/** Headers that differ between requests or do not identify the caller. */
const idle =
  /^(?:accept.*|content-.*|host|connection|keep-alive|te|transfer-encoding|upgrade.*|user-agent|cache-control|pragma|referer|origin|dnt|if-.*|sec-.*|traceparent|tracestate|baggage|b3|x-b3-.*|x-request-id|x-correlation-id|x-amzn-trace-id|x-cloud-trace-context|cf-ray|via|forwarded|x-real-ip|x-forwarded-(?:for|host|proto|port|server|prefix)|x-query-tags|x-.*-response-encoding-flags)$/;

/** Distinguishes callers to whom the backend may show different data: any header may be forwarded to it. */
function credentialsOf({ headers }: Caller): string {
  const telling = [...headers].filter(([name]) => !idle.test(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(telling)).digest('base64');
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
  if (plan.kind === 'metric') {
    for (const { range } of leavesOf(plan.tree)) {
      const { intervalNanoseconds, offsetNanoseconds } = range.range;
      const first = asked.startNs - offsetNanoseconds - intervalNanoseconds;
      const last = asked.endNs - offsetNanoseconds;
      if (first < startNs) startNs = first;
      if (last > endNs) endNs = last;
    }
  }
  return { startNs, endNs: endNs + 1n };
}
