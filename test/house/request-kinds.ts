import { fillAccount } from '../bench/fill.js';
import { sampleBatches, sampleEndMs, sampleStartMs } from '../bench/sample-logs.js';

/** A kind of request whose calls or files are counted. */
export interface RequestKind {
  readonly name: string;
  readonly isMetric: boolean;
  /** The path of a numbered request of this kind; each number has another range. */
  readonly path: (number: number) => string;
}

const account = { AccountID: '7', ProjectID: '0' };
/** Flags of a proxy that only answers and logs each request, without cache warming. */
export const houseFlags = {
  'tenant-map': JSON.stringify({ house: { account_id: '7', project_id: '0' } }),
  'rate-limit-per-second': '0',
  'labels-cache-warm': 'false',
  'log-rate-threshold': '0',
};
export const orgId = { 'X-Scope-OrgID': 'house' };

const lines = 3_000;
const rangeMs = 90 * 60_000;
/** Maximum number of requests of one kind in a test: all ranges must lie within the data. */
const mostAsked = 200;

function rangeQuery(params: Readonly<Record<string, string>>, number: number): string {
  if (number >= mostAsked) throw new Error(`no range is left for request ${number}`);
  const startMs = sampleStartMs + number * 60_000;
  const endMs = Math.min(startMs + rangeMs, sampleEndMs);
  const range = { start: `${startMs}000000`, end: `${endMs}000000` };
  return `/loki/api/v1/query_range?${new URLSearchParams({ ...params, ...range }).toString()}`;
}

function metric(name: string, query: string): RequestKind {
  return { name, isMetric: true, path: (number) => rangeQuery({ query, step: '60' }, number) };
}

/** Queries that dashboards and Explore send. */
export const requestKinds: readonly RequestKind[] = [
  {
    name: 'lines with a filter',
    isMetric: false,
    path: (number) =>
      rangeQuery({ query: '{namespace="prod"} |= "POST"', limit: '50', direction: 'backward' }, number),
  },
  metric('rate by a label', 'sum by (pod) (rate({cluster="eu"}[5m]))'),
  metric('level histogram', 'sum by (detected_level) (count_over_time({cluster="eu"}[5m]))'),
  metric(
    'count by a label of JSON',
    'sum by (status) (count_over_time({service_name="gateway"} | json [5m]))',
  ),
  metric(
    'quantile of a number in JSON',
    'quantile_over_time(0.99, {service_name="gateway"} | json | unwrap duration_ms [5m]) by (method)',
  ),
];

/** A metric query with a new filter each time, as from a user who is searching. */
export const newFilters: RequestKind = {
  name: 'rate with a new filter',
  isMetric: true,
  path(number) {
    const query = `sum by (pod) (rate({cluster="eu"} != "filter ${number}" [5m]))`;
    const range = { start: `${sampleStartMs}000000`, end: `${sampleEndMs}000000` };
    return `/loki/api/v1/query_range?${new URLSearchParams({ query, step: '60', ...range }).toString()}`;
  },
};

/** Loads the lines that the requests query into a backend. */
export function fillHouse(url: string): Promise<void> {
  return fillAccount(url, account, { lines, batches: () => sampleBatches(lines) }, () => undefined);
}
