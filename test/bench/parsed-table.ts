import { parsedEndMs, parsedStartMs } from './parsed-logs.js';
import type { Shape } from './side-by-side.js';

const all = { start: `${parsedStartMs}000000`, end: `${parsedEndMs}000000` };
/** A field that no row has: a filter on it makes every query new to caches. */
const fresh = '| none!="{nonce}"';
const direct = '{service_name=~".+"} none:!="{nonce}"';

function logs(name: string, query: string, asked: string): Shape {
  return {
    name,
    path: '/loki/api/v1/query_range',
    params: { query, limit: '1000', direction: 'backward', ...all },
    directPath: '/select/logsql/query',
    direct: { query: asked, limit: '1000', ...all },
  };
}

function metric(name: string, query: string, asked: string): Shape {
  return {
    name,
    path: '/loki/api/v1/query_range',
    params: { query, step: '300s', ...all },
    directPath: '/select/logsql/stats_query_range',
    direct: { query: asked, step: '300s', ...all },
  };
}

export const shapes: readonly Shape[] = [
  logs(
    'filter of a parsed number, 1000 lines',
    `{service_name=~".+"} | json | status >= 500 ${fresh}`,
    `${direct} status:>=500`,
  ),
  logs(
    'filter of a parsed text, 1000 lines',
    `{service_name=~".+"} | json | user="user-17" ${fresh}`,
    `${direct} user:=user-17`,
  ),
  logs(
    'search for a text that no line has',
    '{service_name=~".+"} |= "{nonce}"',
    '{service_name=~".+"} *:*"{nonce}"*',
  ),
  metric(
    'count of a parsed number filter',
    `sum(count_over_time({service_name=~".+"} | json | status >= 500 ${fresh} [5m]))`,
    `${direct} status:>=500 | stats count() c`,
  ),
  metric(
    'count by a parsed field',
    `sum by (status) (count_over_time({service_name=~".+"} | json ${fresh} [5m]))`,
    `${direct} | stats by (status) count() c`,
  ),
  metric(
    'count by a label',
    `sum by (namespace) (count_over_time({service_name=~".+"} ${fresh} [5m]))`,
    `${direct} | stats by (namespace) count() c`,
  ),
  metric(
    '0.99 quantile of a parsed field',
    `quantile_over_time(0.99, {service_name=~".+"} | json ${fresh} | unwrap duration_ms [5m]) by (method)`,
    `${direct} | stats by (method) quantile(0.99, duration_ms) q`,
  ),
  metric(
    '0.99 quantile by a label',
    `quantile_over_time(0.99, {service_name=~".+"} | json ${fresh} | unwrap duration_ms [5m]) by (service_name)`,
    `${direct} | stats by (service_name) quantile(0.99, duration_ms) q`,
  ),
  metric(
    'sum of a parsed field by a label',
    `sum by (service_name) (sum_over_time({service_name=~".+"} | json ${fresh} | unwrap bytes [5m]))`,
    `${direct} | stats by (service_name) sum(bytes) s`,
  ),
  metric(
    'Explore level histogram',
    `sum by (level, detected_level) (count_over_time({service_name=~".+"} ${fresh} | drop __error__ [5m]))`,
    `${direct} | stats by (level) count() c`,
  ),
];
