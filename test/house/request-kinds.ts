import { fillAccount } from '../bench/fill.js';
import { sampleBatches, sampleEndMs, sampleStartMs } from '../bench/sample-logs.js';

/** A kind of request of which it is counted how much it goes through. */
export interface RequestKind {
  readonly name: string;
  readonly isMetric: boolean;
  /** A number of the same kind; each is over another range. */
  readonly path: (number: number) => string;
}

const account = { AccountID: '7', ProjectID: '0' };
/** Flags of a proxy that does nothing but answer and log each request: label listings are not asked for ahead. */
export const houseFlags = {
  'tenant-map': JSON.stringify({ house: { account_id: '7', project_id: '0' } }),
  'rate-limit-per-second': '0',
  'labels-cache-warm': 'false',
  'log-rate-threshold': '0',
};
export const orgId = { 'X-Scope-OrgID': 'house' };

const lines = 3_000;
const rangeMs = 90 * 60_000;
/** Most that a kind can be asked in a test: ranges lie within the lines. */
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

/** What dashboards and Explore ask. */
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

/** A metric query in which each filter is new, as of somebody who looks for something. */
export const newFilters: RequestKind = {
  name: 'rate with a new filter',
  isMetric: true,
  path(number) {
    const query = `sum by (pod) (rate({cluster="eu"} != "filter ${number}" [5m]))`;
    const range = { start: `${sampleStartMs}000000`, end: `${sampleEndMs}000000` };
    return `/loki/api/v1/query_range?${new URLSearchParams({ query, step: '60', ...range }).toString()}`;
  },
};

/** Gives a backend the lines that the requests are about. */
export function fillHouse(url: string): Promise<void> {
  return fillAccount(url, account, { lines, batches: () => sampleBatches(lines) }, () => undefined);
}
