import type { TimeRange } from '../base/time/range.js';
import type { ApiRequest } from '../wire/api/request.js';
import type { NameLearner } from '../victoria/names/name-learner.js';
import type { Naming } from '../victoria/names/naming.js';
import { LabelFields } from './plan/label-fields.js';
import {
  labelsToLearn,
  leavesOfPlan,
  refinePlan,
  resolveLabels,
  rowsToLearnFrom,
  withoutInternal,
} from './plan/refine.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Plan } from './plan/types.js';

type Refinable = Exchange<'tenant' | 'plan' | 'upstream'>;

/** A plan with stored names in place of those of clients. */
export interface RefinedPlan {
  readonly plan: Plan;
  /** The stored stream fields of labels. */
  readonly labelFields: LabelFields;
}

/** The plan of an exchange with the names that the backend has stored. They are only requested when they matter. */
export async function refinedPlan(
  exchange: Refinable,
  naming: Naming,
  learner: NameLearner,
): Promise<RefinedPlan> {
  const { slots, request, caller } = exchange;
  const { upstream, tenant } = slots;
  const range = rangeRead(request, slots.plan);
  const labelFields = await labelFieldsOf(exchange, range, naming, learner);
  const resolved = resolveLabels(slots.plan, labelFields);
  const plan = caller.isDrilldown ? resolved : withoutInternal(resolved);
  const filter = rowsToLearnFrom(plan);
  if (filter === undefined || range === undefined) return { plan, labelFields };
  const names = await learner.learn({ tenantId: tenant.id, naming, filter, range, upstream });
  return { plan: names === undefined ? plan : refinePlan(plan, names), labelFields };
}

async function labelFieldsOf(
  { slots: { plan, upstream } }: Refinable,
  range: TimeRange | undefined,
  naming: Naming,
  { streamFields }: NameLearner,
): Promise<LabelFields> {
  const labels = labelsToLearn(plan).filter((name) => LabelFields.needsListing(name, naming));
  if (labels.length === 0 || range === undefined) return new LabelFields(naming);
  const stored = await streamFields.learn(upstream, range, (fields) => {
    const known = new LabelFields(naming, fields);
    return labels.every((name) => known.hasField(name));
  });
  return new LabelFields(naming, stored);
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
