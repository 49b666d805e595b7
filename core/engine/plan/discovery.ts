import type { DiscoveryRequest } from '../../wire/api/discovery-request.js';
import { apiError } from '../../base/errors/table.js';
import {
  checkSelectors,
  checkStages,
  logQueriesOf,
  makeMatcher,
  requireNonEmptyMatcher,
  withFilters,
} from '../../logql/index.js';
import { or } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';
import { planMatchers, selectorFilter } from './matchers.js';
import { withClientNames } from './client-names.js';
import { planLogs } from './logs.js';
import type { PlanSettings } from './settings.js';
import type { DetectedFieldsPlan, Plan, VolumePlan } from './types.js';

type Volume = Extract<DiscoveryRequest, { readonly op: 'volume' | 'volume_range' }>;
type Scan = Extract<DiscoveryRequest, { readonly op: 'detected_fields' | 'detected_field_values' }>;

/**
 * Says what a discovery request means in the backend's terms.
 * @throws LogqlError with Loki's text for a query it refuses
 */
export function planDiscovery(request: DiscoveryRequest, naming: Naming, settings: PlanSettings = {}): Plan {
  switch (request.op) {
    case 'volume':
    case 'volume_range':
      return planVolume(request, naming);
    case 'index_shards': {
      const { ast } = request.query;
      checkStages(ast);
      const selections = logQueriesOf(ast).map(
        ({ selector }) => planMatchers(selector.matchers, naming).filter,
      );
      return { kind: 'shards', filter: or(...selections) };
    }
    case 'detected_labels':
      return { kind: 'detected-labels', filter: selectorFilter(request.query, naming) };
    case 'detected_fields':
    case 'detected_field_values':
      return planScan(request, naming, settings);
    case 'patterns':
      return { kind: 'patterns', filter: selectorFilter(request.query, naming) };
  }
}

function planVolume({ query, targetLabels, aggregateBy }: Volume, naming: Naming): VolumePlan {
  const { matchers } = query;
  // Written like this, and only like this, a selector may be empty.
  if (query.text !== '{}') requireNonEmptyMatcher(matchers);
  if (targetLabels.length > 0) {
    const known = new Set(matchers.map(({ name }) => naming.selectorName(name)));
    const targets = new Set(targetLabels.map((name) => naming.selectorName(name)));
    // A label that is asked for must be there, unless the selector says what it may be.
    const required = [...targets].filter((name) => !known.has(name));
    const present = required.map((name) => makeMatcher(name, '=~', '.+'));
    const { filter } = planMatchers([...matchers, ...present], naming);
    return { kind: 'volume', filter, targets, required };
  }
  const { filter } = planMatchers(matchers, naming);
  // Without targets label sets have the labels of the selector; sums by name are of every label.
  const isAll = matchers.length === 0 || aggregateBy === 'labels';
  const targets = isAll ? 'all' : new Set(matchers.map(({ name }) => name));
  return { kind: 'volume', filter, targets, required: [] };
}

function planScan(
  { query }: Scan,
  naming: Naming,
  { pushdown = 'on', filters = 'loki' }: PlanSettings,
): DetectedFieldsPlan {
  checkSelectors(query.ast);
  checkStages(query.ast);
  const ast = withFilters(withClientNames(query.ast, naming), filters);
  if (ast.kind !== 'log') throw apiError('badRequest', { text: 'only log selector is supported' });
  return { kind: 'detected-fields', logs: planLogs(ast, naming, pushdown).plan };
}
