import type { ApiRequest, TimeRange } from '../../core/api/request.js';
import type { NameLearner } from '../../core/names/name-learner.js';
import type { Naming } from '../../core/names/naming.js';
import { refinePlan, rowsToLearnFrom } from '../../core/plan/refine.js';
import type { Exchange, Plan } from '../../core/plugin/index.js';

type Refinable = Exchange<'tenant' | 'plan' | 'upstream'>;

/** The plan of an exchange with what the backend's stored names add to it; they are asked for only where they matter. */
export async function refinedPlan(
  { slots, request, caller }: Refinable,
  naming: Naming,
  learner: NameLearner,
): Promise<Plan> {
  const { plan, upstream, tenant } = slots;
  const filter = rowsToLearnFrom(plan, naming);
  const range = rangeRead(request, plan);
  if (filter === undefined || range === undefined) return plan;
  const { accountId, projectId, streamField } = tenant;
  // Whatever of a caller may go on to the backend tells callers apart.
  const credentials = [caller.headers.get('authorization'), caller.headers.get('cookie')];
  const owner = JSON.stringify([tenant.id, accountId, projectId, streamField, ...credentials]);
  const names = await learner.learn({ owner, naming, filter, range, upstream });
  return names === undefined ? plan : refinePlan(plan, names, naming);
}

/** All instants that a request reads rows of; undefined for requests without a range. */
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
    for (const { intervalNanoseconds, offsetNanoseconds } of [...plan.leaves.keys()].map(
      ({ range }) => range,
    )) {
      const first = asked.startNs - offsetNanoseconds - intervalNanoseconds;
      const last = asked.endNs - offsetNanoseconds;
      if (first < startNs) startNs = first;
      if (last > endNs) endNs = last;
    }
  }
  return { startNs, endNs: endNs + 1n };
}
