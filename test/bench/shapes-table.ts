import { mixedEndMs, mixedStartMs } from './mixed-logs.js';
import type { Shape } from './side-by-side.js';

const endNs = `${mixedEndMs}000000`;
const all = { start: `${mixedStartMs}000000`, end: endNs };
const backFrom = (minutes: number): string => `${mixedEndMs - minutes * 60_000}000000`;

function logs(name: string, query: string, direct: string, limit: number, minutes: number): Shape {
  const range = { start: backFrom(minutes), end: endNs };
  return {
    name,
    path: '/loki/api/v1/query_range',
    params: { query, limit: String(limit), direction: 'backward', ...range },
    directPath: '/select/logsql/query',
    direct: { query: direct, limit: String(limit), ...range },
  };
}

function metric(name: string, query: string, direct: string, step: string): Shape {
  return {
    name,
    path: '/loki/api/v1/query_range',
    params: { query, step, ...all },
    directPath: '/select/logsql/stats_query_range',
    direct: { query: direct, step, ...all },
  };
}

const traefik = '{service_name="traefik"} !_msg:*"{nonce}"*';
const ledger = '{service_name="ledger"} !_msg:*"{nonce}"*';
const ingress = '{job="ingress/nginx"} !_msg:*"{nonce}"*';
const everything = '{cluster=~".+"} !_msg:*"{nonce}"*';
const someTime = { start: '{start}', end: '{end}' };

export const shapes: readonly Shape[] = [
  logs('100 newest lines of 1 h', '{service_name="traefik"} != "{nonce}"', traefik, 100, 60),
  logs('5000 newest lines of 2.5 h', '{cluster=~".+"} != "{nonce}"', everything, 5000, 150),
  logs(
    'case-insensitive grep, 1000 lines',
    '{cluster=~".+"} |~ "(?i)error" != "{nonce}"',
    '{cluster=~".+"} _msg:~"(?i-s)error" !_msg:*"{nonce}"*',
    1000,
    180,
  ),
  metric(
    'rate by namespace at 60 s',
    'sum by (namespace) (rate({cluster=~".+"} != "{nonce}" [5m]))',
    `${everything} | stats by (namespace) count() c`,
    '60s',
  ),
  logs(
    'json filter with line_format, 1000 lines',
    '{service_name="traefik"} != "{nonce}" | json | DownstreamStatus >= 500 | line_format "{{.RequestMethod}} {{.RequestPath}}"',
    `${traefik} | unpack_json | filter DownstreamStatus:>=500`,
    1000,
    180,
  ),
  logs(
    'json text filter, 1000 lines',
    '{service_name="traefik"} != "{nonce}" | json | DownstreamStatus="503"',
    `${traefik} | unpack_json | filter DownstreamStatus:=503`,
    1000,
    180,
  ),
  metric(
    'json count by status at 5 m',
    'sum by (DownstreamStatus) (count_over_time({service_name="traefik"} != "{nonce}" | json [5m]))',
    `${traefik} | unpack_json | stats by (DownstreamStatus) count() c`,
    '300s',
  ),
  metric(
    '0.99 quantile of an unwrapped field',
    'quantile_over_time(0.99, {service_name="traefik"} != "{nonce}" | json | unwrap Duration [5m]) by (RequestMethod)',
    `${traefik} | unpack_json | stats by (RequestMethod) quantile(0.99, Duration) q`,
    '300s',
  ),
  metric(
    'logfmt count by level at 5 m',
    'sum by (level) (count_over_time({service_name="ledger"} != "{nonce}" | logfmt [5m]))',
    `${ledger} | unpack_logfmt | stats by (level) count() c`,
    '300s',
  ),
  metric(
    '0.99 quantile of a logfmt duration',
    'quantile_over_time(0.99, {service_name="ledger"} != "{nonce}" | logfmt | unwrap duration(duration) [5m]) by (level)',
    `${ledger} | unpack_logfmt | stats by (level) quantile(0.99, duration) q`,
    '300s',
  ),
  metric(
    'pattern count by status at 5 m',
    'sum by (status) (count_over_time({job="ingress/nginx"} != "{nonce}" | pattern `<_> "<method> <_>" <status> <_>` [5m]))',
    `${ingress} | extract '<_> "<method> <_>" <status> ' | stats by (status) count() c`,
    '300s',
  ),
  metric(
    'Explore level histogram',
    'sum by (level, detected_level) (count_over_time({cluster=~".+"} != "{nonce}" | drop __error__[5m]))',
    `${everything} | stats by (level) count() c`,
    '300s',
  ),
  {
    name: 'series',
    path: '/loki/api/v1/series',
    params: { 'match[]': '{cluster=~".+"}', ...someTime },
    directPath: '/select/logsql/streams',
    direct: { query: '{cluster=~".+"}', ...someTime },
  },
  {
    name: 'detected_fields',
    path: '/loki/api/v1/detected_fields',
    params: { query: '{service_name="traefik"} != "{nonce}"', line_limit: '1000', ...all },
    directPath: '/select/logsql/query',
    direct: { query: traefik, limit: '1000', ...all },
  },
  {
    name: 'volume',
    path: '/loki/api/v1/index/volume',
    params: { query: '{cluster=~".+"}', limit: '100', ...someTime },
    directPath: '/select/logsql/query',
    direct: { query: '{cluster=~".+"} | stats by (cluster) count() c, sum_len(_msg) b', ...someTime },
  },
];
