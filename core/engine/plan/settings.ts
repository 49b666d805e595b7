import type { Filters } from '../../logql/index.js';
import type { ApproxTopk } from '../../logql/metric/index.js';
import type { Pushdown } from './rules/query.js';

/** What of the options decides how a query is planned; by default as the options do. */
export interface PlanSettings {
  readonly pushdown?: Pushdown;
  readonly filters?: Filters;
  readonly approxTopk?: ApproxTopk;
}
