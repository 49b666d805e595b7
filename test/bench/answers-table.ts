import { sampleEndMs, sampleStartMs } from './sample-logs.js';
import type { Shape } from './side-by-side.js';

const endNs = `${sampleEndMs}000000`;
const startNs = `${sampleStartMs}000000`;
const backFrom = (hours: number): string => `${sampleEndMs - hours * 3_600_000}000000`;
const all = { start: startNs, end: endNs };

function logs(name: string, query: string, filter: string, limit: number, hours: number): Shape {
  const range = { start: backFrom(hours), end: endNs };
  return {
    name,
    path: '/loki/api/v1/query_range',
    params: { query, limit: String(limit), direction: 'backward', ...range },
    directPath: '/select/logsql/query',
    direct: { query: filter, limit: String(limit), ...range },
  };
}

function metric(name: string, query: string, stats: string, step: string): Shape {
  return {
    name,
    path: '/loki/api/v1/query_range',
    params: { query, step, ...all },
    directPath: '/select/logsql/stats_query_range',
    direct: { query: stats, step, ...all },
  };
}

export const shapes: readonly Shape[] = [
  logs(
    '100 newest lines of 1 h',
    '{service_name="gateway"} != "{nonce}"',
    '{service_name="gateway"} !_msg:*"{nonce}"*',
    100,
    1,
  ),
  logs(
    '5000 newest lines of 5 h',
    '{service_name="gateway"} != "{nonce}"',
    '{service_name="gateway"} !_msg:*"{nonce}"*',
    5000,
    5,
  ),
  logs(
    'case-insensitive grep, 6 h, 1000 lines',
    '{namespace=~".+"} |~ "(?i)timeout" != "{nonce}"',
    '{namespace=~".+"} _msg:~"(?i)timeout" !_msg:*"{nonce}"*',
    1000,
    6,
  ),
  metric(
    'rate by namespace, 6 h at 60 s',
    'sum by (namespace) (rate({cluster=~".+"} != "{nonce}" [5m]))',
    '{cluster=~".+"} !_msg:*"{nonce}"* | stats by (namespace) count() c',
    '60s',
  ),
  logs(
    'json filter with line_format, 1000 lines',
    '{service_name="gateway"} != "{nonce}" | json | status >= 500 | line_format "{{.method}} {{.path}} {{.status}}"',
    '{service_name="gateway"} !_msg:*"{nonce}"* | unpack_json fields (status, method, path) | filter status:>=500',
    1000,
    6,
  ),
  metric(
    'json count by status, 6 h at 5 m',
    'sum by (status) (count_over_time({service_name="gateway"} != "{nonce}" | json [5m]))',
    '{service_name="gateway"} !_msg:*"{nonce}"* | unpack_json fields (status) | stats by (status) count() c',
    '300s',
  ),
  metric(
    '0.99 quantile of an unwrapped field',
    'quantile_over_time(0.99, {service_name="gateway"} != "{nonce}" | json | unwrap duration_ms [5m]) by ()',
    '{service_name="gateway"} !_msg:*"{nonce}"* | unpack_json fields (duration_ms) | stats quantile(0.99, duration_ms) q',
    '300s',
  ),
  metric(
    'Explore level histogram',
    'sum by (level, detected_level) (count_over_time({namespace=~".+"} != "{nonce}" | drop __error__[5m]))',
    '{namespace=~".+"} !_msg:*"{nonce}"* | stats by (level) count() c',
    '300s',
  ),
  metric(
    'Explore level histogram of | json',
    'sum by (level, detected_level) (count_over_time({service_name="gateway"} != "{nonce}" | json | drop __error__[5m]))',
    '{service_name="gateway"} !_msg:*"{nonce}"* | unpack_json fields (level) | stats by (level) count() c',
    '300s',
  ),
  {
    name: 'series',
    path: '/loki/api/v1/series',
    params: { 'match[]': '{namespace=~".+", pod!="{nonce}"}', ...all },
    directPath: '/select/logsql/streams',
    direct: { query: '{namespace=~".+",pod!="{nonce}"}', ...all },
  },
  {
    name: 'detected_fields',
    path: '/loki/api/v1/detected_fields',
    params: { query: '{service_name="gateway", pod!="{nonce}"}', line_limit: '1000', ...all },
    directPath: '/select/logsql/query',
    direct: { query: '{service_name="gateway",pod!="{nonce}"}', limit: '1000', ...all },
  },
  {
    name: 'volume',
    path: '/loki/api/v1/index/volume',
    params: { query: '{namespace=~".+", pod!="{nonce}"}', targetLabels: 'namespace', ...all },
    directPath: '/select/logsql/stats_query',
    direct: { query: '{namespace=~".+",pod!="{nonce}"} | stats by (namespace) sum_len(_msg) b', ...all },
  },
];
