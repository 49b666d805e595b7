import { doAll } from '../../../../core/base/pace/steps.js';
import type {
  CheckedRequest,
  CheckedMetric,
  PlanSettings,
} from '../../../../core/engine/plan/checked-request.js';
import type { KnownNames } from '../../../../core/victoria/names/name-learner.js';
import { LabelFields } from '../../../../core/engine/plan/columns.js';
import { planLogs, type OpenLogs } from '../../../../core/engine/plan/logs.js';
import { planMetric } from '../../../../core/engine/plan/metric.js';
import { openPlan, readRequest } from '../../../../core/engine/plan/plan.js';
import type { Pushdown } from '../../../../core/engine/plan/rules/rule.js';
import type { LogsPlan, MetricPlan, Plan } from '../../../../core/engine/plan/types.js';
import type { LogExpr, MetricExpr } from '../../../../core/logql/index.js';
import { planLeaves } from '../../../../core/logql/metric/index.js';
import type { Naming } from '../../../../core/victoria/names/naming.js';
import type { ApiRequest } from '../../../../core/wire/api/request.js';

/** The request as the translate stage reads it. */
export function askedOf(request: ApiRequest, naming: Naming, settings?: PlanSettings): CheckedRequest {
  return doAll(readRequest(request, naming, settings));
}

/** The plan of a request if no stored names are known. */
export function planOf(request: ApiRequest, naming: Naming): Plan {
  return doAll(openPlan(askedOf(request, naming), { naming, fields: new LabelFields(naming) })).close(
    undefined,
  );
}

/** An open plan of a log query, for these stored stream fields; the names of label filters are still unknown. */
export function openLogs(
  expr: LogExpr,
  naming: Naming,
  pushdown: Pushdown = 'on',
  stored: Iterable<string> = [],
  needed?: string,
): OpenLogs {
  return doAll(planLogs(expr, { naming, fields: new LabelFields(naming, stored) }, pushdown, needed));
}

/** The plan of a log query; without `names` no stored names are known. */
export function logsPlan(expr: LogExpr, naming: Naming, names?: KnownNames): LogsPlan {
  return openLogs(expr, naming).close(names);
}

export function askedMetric(expr: MetricExpr, pushdown: Pushdown = 'on'): CheckedMetric {
  return { kind: 'metric', ...planLeaves(expr), pushdown };
}

/** The plan of a metric query if no stored names are known. */
export function metricPlan(expr: MetricExpr, naming: Naming, pushdown?: Pushdown): MetricPlan {
  const context = { naming, fields: new LabelFields(naming) };
  return doAll(planMetric(askedMetric(expr, pushdown), context)).close(undefined);
}
