import type { LogcliCase } from './types.js';

const from = '--from=2026-11-01T02:00:00Z';
const to = '--to=2026-11-01T03:00:00Z';
const hour = [from, to] as const;
const tenMinutes = ['--from=2026-11-01T02:00:00Z', '--to=2026-11-01T02:10:00Z'] as const;
const day = ['--from=2026-11-01T00:00:00Z', '--to=2026-11-01T06:00:00Z'] as const;
const gateway = '{app="api-gateway"}';
const checkout = '{service_name="checkout"}';
const payments = '{service_name="payments"}';
const every = '{service_name=~".+"}';
const prod = '{namespace="prod", app!="orders"}';
const perLevel = 'sum by (level) (count_over_time({app="api-gateway"}[5m]))';

/** Why the text of an answer without a tenant differs (docs/differences.md). */
const missingTenant = 'the specification words the refusal of a request without a tenant in its own way';

function query(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'query', name, args };
}
function instant(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'instant-query', name, args, as: 'samples' };
}
function labels(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'labels', name, args };
}
function series(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'series', name, args, as: 'lines' };
}
function stats(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'stats', name, args, as: 'index-stats' };
}
function volume(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'volume', name, args, as: 'volume' };
}
function volumeRange(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'volume_range', name, args, as: 'volume' };
}
function fields(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'detected-fields', name, args, as: 'fields' };
}
function refused(name: string, command: string, ...args: readonly string[]): LogcliCase {
  return { command, name: `refused: ${name}`, args };
}

/** Why lines of one instant may stand in another order (docs/differences.md). */
const oneInstant = 'VictoriaLogs does not keep the order of arrival of the lines of one instant';

/** Why sparse streams are listed, or measured, otherwise (docs/differences.md). */
const byChunks =
  "Loki answers from its index: a chunk's labels and size count for all the time that it spans";

/** Every run of logcli that is compared, by command. */
export const cases: readonly LogcliCase[] = [
  query('newest lines first', ...hour, gateway),
  query('oldest lines first', ...hour, '--forward', gateway),
  query('a limit', ...hour, '--limit=7', gateway),
  query('no limit over ten minutes', ...tenMinutes, '--limit=0', gateway),
  query('pages of 50 lines', ...tenMinutes, '--limit=180', '--batch=50', gateway),
  query('pages of 50 lines, forward', ...tenMinutes, '--limit=180', '--batch=50', '--forward', gateway),
  query('pages of 7 lines until all are read', ...tenMinutes, '--limit=0', '--batch=7', checkout),
  query(
    'pages over the rows of one instant',
    ...day,
    '--limit=40',
    '--batch=5',
    '{kind=~"special|twice|empty"}',
  ),
  query(
    'pages with a filter',
    ...hour,
    '--limit=60',
    '--batch=10',
    `${gateway} |= "POST" | json | status >= 400`,
  ),
  query('several streams', ...tenMinutes, '--limit=100', '{namespace="prod", app!="orders"}'),
  {
    ...query('several lines of one instant in a stream', ...day, '--limit=100', '{kind="same-time"}'),
    differs: oneInstant,
    differsStored: true,
  },
  {
    ...query('pages of rows without a line', ...day, '--limit=40', '--batch=5', '{kind="blank"}'),
    differs: 'VictoriaLogs cannot store an empty line; the specification rebuilds it',
  },
  query('nothing found', ...hour, '{app="nobody"}'),
  query('a range without lines', '--from=2026-10-01T02:00:00Z', '--to=2026-10-01T03:00:00Z', gateway),
  query('since', '--since=800h', '--limit=5', gateway),
  query('from without to', from, '--limit=3', '--forward', gateway),
  query(
    'times with fractions',
    '--from=2026-11-01T02:00:00.123456789Z',
    '--to=2026-11-01T02:03:00.5Z',
    gateway,
  ),
  query('times without a zone', '--from=2026-11-01T02:00:00', '--to=2026-11-01T02:05:00', gateway),
  query(
    'times with an offset',
    '--from=2026-11-01T04:00:00+02:00',
    '--to=2026-11-01T04:05:00+02:00',
    gateway,
  ),
  query('raw', ...hour, '--output=raw', gateway),
  query('jsonl', ...hour, '--output=jsonl', gateway),
  query('jsonl of structured metadata', ...hour, '--output=jsonl', payments),
  query('default output by name', ...hour, '--output=default', checkout),
  query('raw, pages', ...tenMinutes, '--output=raw', '--limit=90', '--batch=30', checkout),
  query('timestamps as rfc3339nano', ...hour, '--output-timestamp-format=rfc3339nano', gateway),
  query('timestamps as unixdate', ...hour, '--output-timestamp-format=unixdate', gateway),
  query('timestamps as stampmicro', ...hour, '--output-timestamp-format=stampmicro', gateway),
  query('no labels', ...hour, '--no-labels', gateway),
  query('one label', ...hour, '--include-label=pod', gateway),
  query('two labels', ...hour, '--include-label=pod', '--include-label=level', gateway),
  query('labels left out', ...hour, '--exclude-label=pod', '--exclude-label=detected_level', gateway),
  query('common labels kept', ...hour, '--include-common-labels', gateway),
  query('padded labels', ...hour, '--labels-length=200', '--limit=4', gateway),
  query('coloured labels', ...hour, '--colored-output', '--limit=9', gateway),
  query('quiet', ...hour, '--quiet', gateway),
  { ...query('statistics', ...hour, '--stats', '--limit=3', gateway), as: 'figures' },
  { ...query('statistics of a metric query', ...hour, '--stats', '--quiet', perLevel), as: 'figures' },
  query('query tags, no cache', ...hour, '--query-tags=Source=logcli', '--nocache', gateway),
  query('compressed', ...hour, '--compress', '--limit=500', gateway),
  query('an interval', ...hour, '--interval=5m', gateway),
  query('line filters', ...hour, `${gateway} |= "completed" != "GET" |~ "users|orders"`),
  query('json', ...hour, `${gateway} | json | duration_ms > 500`),
  query('json errors', ...hour, `${payments} | json`),
  query('logfmt', ...hour, `${checkout} | logfmt`),
  query('logfmt, strict', ...hour, `${checkout} | logfmt --strict`),
  query(
    'pattern',
    ...hour,
    '{service_name="nginx-ingress"} | pattern "<ip> - - [<_>] \\"<method> <path> <_>\\" <status> <size>"',
  ),
  query('unpack', ...hour, `${gateway} | unpack`),
  query('regexp', ...hour, '{service_name="syslog"} | regexp "(?P<proc>[a-z]+)\\\\[(?P<pid>[0-9]+)\\\\]"'),
  query('line format', ...hour, `${gateway} | json | line_format "{{.method}} {{.path}} {{.status}}"`),
  query(
    'label format',
    ...hour,
    `${gateway} | json | label_format m=method,took="{{.duration_ms}}ms" | keep m, took`,
  ),
  query('drop', ...hour, `${gateway} | drop trace_id, span_id`),
  query('colours in lines', ...hour, '{service_name="deploy-cli"}'),
  query('colours taken out', ...hour, '{service_name="deploy-cli"} | decolorize'),
  query('lines over several lines', ...day, '--limit=12', '{app="orders"} |= "Exception"'),
  query('odd lines', ...day, '--limit=200', '{service_name="edge-cases", kind!="same-time"}'),
  query(
    'parts of a range',
    ...tenMinutes,
    '--parallel-duration=2m',
    '--parallel-max-workers=1',
    '--part-path-prefix={tmp}/part',
    '--merge-parts',
    gateway,
  ),
  query(
    'parts kept as files',
    ...tenMinutes,
    '--parallel-duration=5m',
    '--parallel-max-workers=2',
    '--part-path-prefix={tmp}/part',
    '--merge-parts',
    '--keep-parts',
    '--quiet',
    checkout,
  ),
  query(
    'parts, forward, jsonl',
    ...tenMinutes,
    '--forward',
    '--output=jsonl',
    '--parallel-duration=3m',
    '--parallel-max-workers=2',
    '--part-path-prefix={tmp}/part',
    '--merge-parts',
    '--quiet',
    gateway,
  ),
  { ...query('credentials nobody asked for', ...hour, '--username=u', '--password=p', '--limit=1', gateway) },
  { ...query('a bearer token nobody asked for', ...hour, '--bearer-token=abc', '--limit=1', gateway) },
  { ...query('a metric over a range', ...hour, '--step=5m', perLevel), as: 'samples' },
  {
    ...query(
      'a metric with a step in fractions',
      ...tenMinutes,
      '--step=1500ms',
      'sum(rate({app="api-gateway"}[30s]))',
    ),
    as: 'samples',
  },
  { ...query('a metric without a step', ...hour, perLevel), as: 'samples' },
  {
    ...query(
      'a quantile',
      ...hour,
      '--step=10m',
      'quantile_over_time(0.9, {app="api-gateway"} | json | unwrap duration_ms [10m]) by (pod)',
    ),
    as: 'samples',
  },
  {
    ...query(
      'topk',
      ...hour,
      '--step=20m',
      'topk(2, sum by (service_name) (bytes_rate({service_name=~".+"}[10m])))',
    ),
    as: 'samples',
  },
  { ...query('several tenants', ...tenMinutes, '--limit=40', checkout), orgId: 't1|t2' },
  { ...query('another tenant', ...hour, checkout), orgId: 't2' },
  { ...query('a tenant without data', ...hour, checkout), orgId: 'nobody' },
  query('forward with a limit', ...hour, '--forward', '--limit=11', payments),
  query(
    'forward, raw, pages',
    ...tenMinutes,
    '--forward',
    '--output=raw',
    '--limit=75',
    '--batch=20',
    gateway,
  ),
  query(
    'forward, jsonl, pages',
    ...tenMinutes,
    '--forward',
    '--output=jsonl',
    '--limit=64',
    '--batch=16',
    every,
  ),
  query('pages of one line', ...tenMinutes, '--limit=12', '--batch=1', payments),
  query('pages bigger than the limit', ...tenMinutes, '--limit=9', '--batch=100', checkout),
  query('pages that end with the limit', ...tenMinutes, '--limit=60', '--batch=20', prod),
  query('pages over several streams until all are read', ...tenMinutes, '--limit=0', '--batch=100', prod),
  query(
    'raw, forward, rows of one instant in pages',
    ...day,
    '--forward',
    '--output=raw',
    '--batch=3',
    '{kind="special"}',
  ),
  query('jsonl without labels', ...hour, '--output=jsonl', '--no-labels', payments),
  query('jsonl with one label', ...hour, '--output=jsonl', '--include-label=pod', gateway),
  query('raw without labels', ...hour, '--output=raw', '--no-labels', payments),
  query('no labels, forward', ...hour, '--no-labels', '--forward', every),
  query('jsonl of parsed labels', ...hour, '--output=jsonl', `${checkout} | logfmt | amount > 400`),
  query(
    'odd label values as jsonl',
    ...day,
    '--output=jsonl',
    '--limit=50',
    '{namespace="lab", kind!~"same-time|blank"}',
  ),
  query('a comparison of ip addresses', ...hour, '{service_name="nginx-ingress"} |= ip("10.0.0.0/8")'),
  query('labels without a value', ...hour, '{service_name="payments"} | trace_id=""'),
  query(
    'two parsers',
    ...hour,
    `${payments} | json | line_format "{{.latency}}" | regexp "(?P<ms>[0-9]+)ms"`,
  ),
  query(
    'template functions',
    ...hour,
    `${gateway} | json | line_format "{{ upper .method }} {{ .path | trunc 6 }} {{ if eq .status \\"200\\" }}ok{{ else }}not{{ end }}"`,
  ),
  query('comments in a query', ...hour, `${gateway} # all of them\n|= "POST"`),
  {
    ...query(
      'several tenants, one label of them',
      ...tenMinutes,
      '--limit=40',
      '--include-label=__tenant_id__',
      prod,
    ),
    orgId: 't1|t2',
  },
  {
    ...query('one of several tenants', ...tenMinutes, '--limit=25', '{__tenant_id__="t2", region="second"}'),
    orgId: 't1|t2',
  },
  {
    ...query('one of several tenants and nothing else', ...tenMinutes, '{__tenant_id__="t2"}'),
    orgId: 't1|t2',
    differs:
      'Loki takes the tenant out of the selector and refuses what is left; here it is the whole tenant',
  },
  {
    ...query(
      'a metric of several tenants',
      ...hour,
      '--step=10m',
      'sum by (__tenant_id__, service_name) (count_over_time({service_name=~".+"}[10m]))',
    ),
    orgId: 't1|t2',
    as: 'samples',
  },
  {
    ...query(
      'a binary operation',
      ...hour,
      '--step=10m',
      'sum by (pod) (rate({app="api-gateway"} |= "error" [10m])) / on (pod) sum by (pod) (rate({app="api-gateway"}[10m]))',
    ),
    as: 'samples',
  },
  { ...query('a metric raw', ...hour, '--step=20m', '--output=raw', perLevel), as: 'samples' },
  {
    ...query('a metric without lines', ...hour, '--step=20m', 'absent_over_time({app="nobody"}[5m])'),
    as: 'samples',
  },
  { ...query('a literal over a range', ...tenMinutes, '--step=5m', '1 + 2'), as: 'samples' },

  instant('a count', '--now=2026-11-01T03:00:00Z', 'count_over_time({app="api-gateway"}[1h])'),
  instant(
    'a sum by label',
    '--now=2026-11-01T03:00:00Z',
    'sum by (env) (count_over_time({service_name=~".+"}[1h]))',
  ),
  instant('nothing found', '--now=2026-11-01T03:00:00Z', 'count_over_time({app="nobody"}[1h])'),
  instant('a vector', '--now=2026-11-01T03:00:00Z', 'vector(1) + vector(1)'),
  instant('a scalar', '--now=2026-11-01T03:00:00Z', '1 + 1'),
  instant('now in nanoseconds', '--now=2026-11-01T03:00:00.123456789Z', 'rate({app="api-gateway"}[5m])'),
  instant(
    'a sorted topk',
    '--now=2026-11-01T03:00:00Z',
    'sort_desc(topk(3, sum by (service_name) (count_over_time({service_name=~".+"}[1h]))))',
  ),
  {
    ...instant(
      'forward, with a limit',
      '--now=2026-11-01T03:00:00Z',
      '--forward',
      '--limit=5',
      'bytes_over_time({app="api-gateway"}[10m])',
    ),
  },
  instant(
    'an average',
    '--now=2026-11-01T03:00:00Z',
    'avg_over_time({app="api-gateway"} | json | unwrap duration_ms [10m]) by (level)',
  ),
  instant(
    'durations',
    '--now=2026-11-01T03:00:00Z',
    'max_over_time({service_name="checkout"} | logfmt | unwrap duration(took) | __error__="" [30m]) by (pod)',
  ),
  instant(
    'bytes',
    '--now=2026-11-01T03:00:00Z',
    'sum(sum_over_time({service_name="checkout"} | logfmt | unwrap bytes(size) | __error__="" [30m]))',
  ),
  instant(
    'an offset',
    '--now=2026-11-01T04:00:00Z',
    'sum by (level) (count_over_time({app="api-gateway"}[30m] offset 1h))',
  ),
  instant('nothing there', '--now=2026-11-01T03:00:00Z', 'absent_over_time({app="nobody"}[5m])'),
  instant(
    'a comparison',
    '--now=2026-11-01T03:00:00Z',
    'sum by (pod) (count_over_time({app="api-gateway"}[1h])) > 600',
  ),
  instant(
    'labels replaced',
    '--now=2026-11-01T03:00:00Z',
    'label_replace(sum by (pod) (count_over_time({app="api-gateway"}[1h])), "n", "$1", "pod", ".*-(.*)")',
  ),
  {
    ...instant(
      'several tenants',
      '--now=2026-11-01T03:00:00Z',
      'sum by (service_name, __tenant_id__) (count_over_time({service_name=~".+"}[1h]))',
    ),
    orgId: 't1|t2',
  },
  {
    ...instant('statistics', '--now=2026-11-01T03:00:00Z', '--stats', 'sum(rate({app="api-gateway"}[5m]))'),
    as: 'figures',
  },
  instant('raw', '--now=2026-11-01T03:00:00Z', '--output=raw', 'sum(rate({app="api-gateway"}[5m]))'),

  labels('all', ...day),
  labels('values', ...day, 'service_name'),
  labels('values of level', ...hour, 'level'),
  labels('values of a name nobody has', ...hour, 'nothing_like_it'),
  labels('since', '--since=800h', 'namespace'),
  labels('a range without lines', '--from=2026-10-01T02:00:00Z', '--to=2026-10-01T03:00:00Z'),
  { ...labels('several tenants', ...day), orgId: 't1|t2' },
  { ...labels('tenants as values', ...day, '__tenant_id__'), orgId: 't1|t2' },
  { ...labels('quiet', ...day, '--quiet', 'app') },
  labels('values with quotes', ...day, 'kind'),
  labels('values of a label that is structured metadata', ...day, 'trace_id'),
  labels(
    'a range that ends before the lines',
    '--from=2026-10-31T20:00:00Z',
    '--to=2026-10-31T23:59:00Z',
    'app',
  ),
  {
    ...labels('a range of a minute', '--from=2026-11-01T02:00:00Z', '--to=2026-11-01T02:01:00Z', 'pod'),
    differs: byChunks,
  },
  labels('a range of half an hour', '--from=2026-11-01T02:00:00Z', '--to=2026-11-01T02:30:00Z', 'pod'),
  { ...labels('values of another tenant', ...day, 'region'), orgId: 't2' },
  { ...labels('a tenant without data', ...day), orgId: 'nobody' },

  series('of one service', ...hour, gateway),
  series('all', ...hour, '{}'),
  series('none', ...hour, '{app="nobody"}'),
  series('by expression', ...hour, '{service_name=~"check.*|pay.*"}'),
  { ...series('analysed labels', ...hour, '--analyze-labels', every), as: 'analysis' },
  { ...series('analysed labels of one service', ...hour, '--analyze-labels', gateway), as: 'analysis' },
  series('a range without lines', '--from=2026-10-01T02:00:00Z', '--to=2026-10-01T03:00:00Z', every),
  series('odd label values', ...day, '{namespace="lab"}'),
  series('without a label', ...day, '{service_name=~".+", namespace=""}'),
  series('by three matchers', ...day, '{namespace="prod", env!="staging", pod=~".*-0"}'),
  { ...series('another tenant', ...day, '{region="second"}'), orgId: 't2' },
  {
    ...series('several tenants, a stream that is silent', ...hour, '{service_name="payments"}'),
    orgId: 't1|t2',
    differs: byChunks,
  },
  { ...series('several tenants', ...day, '{service_name="payments"}'), orgId: 't1|t2' },
  {
    ...series('analysed labels of several tenants', ...day, '--analyze-labels', every),
    as: 'analysis',
    orgId: 't1|t2',
  },

  stats('one service', ...day, checkout),
  stats('everything', ...day, every),
  stats('nothing', ...day, '{app="nobody"}'),
  stats('by expression', ...day, '{service_name=~"check.*|pay.*", env="production"}'),
  stats('odd label values', ...day, '{namespace="lab"}'),
  { ...stats('another tenant', ...day, '{region="second"}'), orgId: 't2' },
  { ...stats('several tenants', ...day, '{service_name="payments"}'), orgId: 't1|t2' },
  { ...stats('a tenant without data', ...day, every), orgId: 'nobody' },

  volume('everything', ...day, every),
  volume('the biggest three', ...day, '--limit=3', every),
  volume('by target labels', ...day, '--targetLabels=env', '--targetLabels=namespace', every),
  volume('by label names', ...day, '--aggregateByLabels', every),
  volume('by label names with targets', ...day, '--aggregateByLabels', '--targetLabels=service_name', every),
  volume('nothing', ...day, '{app="nobody"}'),
  volume('one service', ...day, '{app="api-gateway"}'),
  volume('by a target label that nobody has', ...day, '--targetLabels=nothing_like_it', every),
  volume('by one target label and a matcher', ...day, '--targetLabels=pod', '{namespace="prod"}'),
  { ...volume('another tenant', ...day, every), orgId: 't2' },
  { ...volume('several tenants', ...day, '{service_name="payments"}'), orgId: 't1|t2' },
  volumeRange('by the hour', ...day, '--step=1h', every),
  volumeRange('the biggest two by half an hour', ...day, '--step=30m', '--limit=2', every),
  volumeRange('by target labels', ...day, '--step=1h', '--targetLabels=env', every),
  volumeRange('by label names', ...day, '--step=1h', '--aggregateByLabels', every),
  volumeRange('one point for every series', ...hour, '--step=2h', every),
  volumeRange('one service', ...day, '--step=1h', gateway),
  volumeRange('nothing', ...day, '--step=1h', '{app="nobody"}'),
  volumeRange(
    'label names with targets',
    ...day,
    '--step=2h',
    '--aggregateByLabels',
    '--targetLabels=env',
    every,
  ),
  { ...volumeRange('another tenant', ...day, '--step=1h', every), orgId: 't2', differs: byChunks },
  { ...volumeRange('another tenant, the whole range', ...day, '--step=6h', every), orgId: 't2' },
  { ...volumeRange('several tenants', ...day, '--step=1h', '{service_name="payments"}'), orgId: 't1|t2' },

  fields('json', ...hour, gateway),
  fields('logfmt', ...hour, checkout),
  fields('nested json', ...hour, payments),
  fields('plain text', ...hour, '{service_name="syslog"}'),
  { ...fields('with a limit', ...hour, '--limit=5', gateway), as: 'line-count' },
  fields('with a limit on lines', ...tenMinutes, '--line-limit=50', gateway),
  fields('with a parser', ...hour, `${gateway} | json | status >= 500`),
  fields('jsonl', ...hour, '--output=jsonl', gateway),
  { ...fields('values of a field', ...hour, gateway, 'method'), as: 'lines' },
  { ...fields('values of a level', ...hour, gateway, 'detected_level'), as: 'lines' },
  { ...fields('values of a field nobody has', ...hour, gateway, 'nothing_like_it'), as: 'lines' },
  fields('structured metadata only', ...hour, '{service_name="recommender"}'),
  fields('an error in the lines', ...hour, '{service_name="payments"} | json | __error__!=""'),
  fields('a pattern', ...hour, '{service_name="nginx-ingress"} | pattern "<ip> <_>"'),
  fields('line filters', ...hour, `${checkout} |= "error"`),
  fields('nothing', ...hour, '{app="nobody"}'),
  { ...fields('values of a nested field', ...hour, payments, 'event_amount_currency'), as: 'lines' },
  { ...fields('values of structured metadata', ...hour, checkout, 'user_id'), as: 'lines' },
  { ...fields('values after a parser', ...hour, `${checkout} | logfmt`, 'level'), as: 'lines' },
  { ...fields('another tenant', ...day, '{region="second", service_name="checkout"}'), orgId: 't2' },
  { ...fields('several tenants', ...hour, checkout), orgId: 't1|t2' },

  refused('a query cut off', 'query', ...hour, '{app='),
  refused('a query without a matcher for values', 'query', ...hour, '{app=~".*"}'),
  refused('an unknown stage', 'query', ...hour, `${gateway} | jsonn`),
  refused('a bad expression', 'query', ...hour, `${gateway} |~ "(a"`),
  refused('two aggregations', 'query', ...hour, 'sum(count_over_time({app="a"}[1m])) by (a) by (b)'),
  refused('a time range missing', 'query', ...hour, 'rate({app="a"})'),
  refused('end before start', 'query', to.replace('to', 'from'), from.replace('from', 'to'), gateway),
  refused('too many lines', 'query', ...hour, '--limit=6000', '--batch=6000', gateway),
  refused('too many steps', 'query', ...day, '--step=1s', 'rate({app="api-gateway"}[1m])'),
  refused(
    'too many series',
    'query',
    ...day,
    '--step=1h',
    'count_over_time({app="api-gateway"} | json [1h])',
  ),
  refused(
    'an error in a pipeline of a metric',
    'query',
    ...hour,
    '--step=10m',
    'sum by (amount) (sum_over_time({service_name="payments"} | json | unwrap status [10m]))',
  ),
  refused('a log query at an instant', 'instant-query', '--now=2026-11-01T03:00:00Z', gateway),
  refused('a bad query at an instant', 'instant-query', '--now=2026-11-01T03:00:00Z', 'sum(('),
  refused('a pipeline in statistics', 'stats', ...hour, `${gateway} |= "a"`),
  refused('a pipeline in volumes', 'volume', ...hour, `${gateway} |= "a"`),
  refused('a metric in volumes', 'volume_range', ...hour, 'rate({app="a"}[1m])'),
  refused('a bad selector of series', 'series', ...hour, '{app='),
  refused('a metric in detected fields', 'detected-fields', ...hour, 'rate({app="a"}[1m])'),
  refused('an unwrap without a range', 'query', ...hour, `${gateway} | json | unwrap duration_ms`),
  refused(
    'an unknown conversion',
    'query',
    ...hour,
    `sum_over_time(${gateway} | unwrap weight(duration_ms) [5m])`,
  ),
  refused('a parameter missing', 'query', ...hour, 'topk(sum(rate({app="a"}[1m])))'),
  refused(
    'an unknown function in a template',
    'query',
    ...hour,
    `${gateway} | line_format "{{ nothing .a }}"`,
  ),
  refused(
    'many to many',
    'instant-query',
    '--now=2026-11-01T03:00:00Z',
    'count_over_time({app="api-gateway"}[1h]) / on (app) count_over_time({app="api-gateway"}[1h])',
  ),
  refused(
    'an error in a pipeline at an instant',
    'instant-query',
    '--now=2026-11-01T03:00:00Z',
    `sum(rate(${payments} | json [10m]))`,
  ),
  refused('a selector without matchers in volumes', 'volume', ...hour, '{app=~".*"}'),
  refused('a bad selector of volumes', 'volume', ...hour, '{app='),
  refused('a metric in statistics', 'stats', ...hour, 'rate({app="a"}[1m])'),
  refused('a bad selector of statistics', 'stats', ...hour, '{app='),
  refused('a bad selector of detected fields', 'detected-fields', ...hour, '{app='),
  refused('a selector without a value of series', 'series', ...hour, '{app=~".*"}'),
  refused('a step of nothing', 'query', ...hour, '--step=0', perLevel),
  refused(
    'retries do not help',
    'query',
    ...hour,
    '--retries=1',
    '--min-backoff=1',
    '--max-backoff=1',
    '{app=',
  ),
  { ...refused('no tenant', 'query', ...hour, gateway), orgId: '', proxy: 'auth', differs: missingTenant },
  { ...refused('no tenant, labels', 'labels', ...hour), orgId: '', proxy: 'auth', differs: missingTenant },
  { ...refused('a tenant with a slash', 'query', ...hour, gateway), orgId: 'a/b' },
];
