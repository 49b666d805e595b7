import {
  byChunks,
  checkout,
  day,
  every,
  fields,
  gateway,
  hour,
  instant,
  labels,
  payments,
  query,
  refused,
  series,
  stats,
  tenMinutes,
  to,
  volume,
  volumeRange,
} from './make-cases.js';
import type { LogcliCase } from './types.js';

const now = '--now=2026-11-01T03:00:00Z';
const both = '{service_name=~"checkout|payments"}';
const two = { orgId: 't1|t2' };
/** A tenant without data, so nothing can be deleted. */
const nobody = { orgId: 'nobody' };
const deletion = 'a deletion is a POST with a confirmation and done at once: the specification';

/** Commands as users type them: rare flag combinations, custom headers, and mistakes. */
export const odd: readonly LogcliCase[] = [
  {
    ...query(
      'tenants by a header of the user',
      ...tenMinutes,
      '--limit=20',
      '--header=X-Scope-OrgID: t1|t2',
      checkout,
    ),
    orgId: '',
  },
  query(
    'a header of the user over the tenant',
    ...tenMinutes,
    '--limit=20',
    '--header=X-Scope-OrgID: t2',
    checkout,
  ),
  query('a tenant and a bar', ...tenMinutes, '--limit=12', '--header=X-Scope-OrgID: t1|', checkout),
  query('a tenant twice', ...tenMinutes, '--limit=12', '--header=X-Scope-OrgID: t1|t1', checkout),
  { ...refused('a tenant that is too long', 'query', ...hour, gateway), orgId: 'a'.repeat(151) },
  query(
    'groups of labels asked for apart, jsonl',
    ...hour,
    '--output=jsonl',
    '--header=X-Loki-Response-Encoding-Flags: categorize-labels',
    `${payments} | json`,
  ),
  { ...query('several tenants, an interval', ...hour, '--interval=10m', checkout), ...two },
  {
    ...query(
      'several tenants, an interval, forward in pages',
      '--from=2026-11-01T02:00:01Z',
      '--to=2026-11-01T04:59:00Z',
      '--interval=45s',
      '--forward',
      '--limit=50',
      '--batch=8',
      `${both} |= "error"`,
    ),
    ...two,
  },
  query('an interval in pages', ...hour, '--interval=90s', '--forward', '--limit=20', '--batch=6', gateway),
  {
    ...query(
      'parts of several tenants',
      ...tenMinutes,
      '--parallel-duration=3m',
      '--parallel-max-workers=2',
      '--part-path-prefix={tmp}/part',
      '--merge-parts',
      '--quiet',
      both,
    ),
    ...two,
  },
  {
    ...query(
      'workers without files',
      ...tenMinutes,
      '--parallel-duration=2m',
      '--parallel-max-workers=3',
      '--quiet',
      gateway,
    ),
    as: 'lines',
  },
  query(
    'labels of a parser kept and left out',
    ...hour,
    '--include-label=status',
    '--include-label=method',
    '--exclude-label=method',
    '--limit=9',
    `${gateway} | json`,
  ),
  query(
    'a nanosecond',
    '--from=2026-11-01T00:00:00.053283434Z',
    '--to=2026-11-01T00:00:00.053283435Z',
    gateway,
  ),
  query(
    'letters of a script, and words by their bounds',
    ...hour,
    '--limit=9',
    `${gateway} |~ "\\\\p{Cyrillic}{3,}" |~ "\\\\b(GET|POST)\\\\b"`,
  ),
  query(
    'a template over the JSON of the line',
    ...hour,
    '--limit=9',
    `${gateway} | line_format "{{ $x := fromJson __line__ }}{{ $x.method }}-{{ $x.user.name }}{{ range $x.tags }}[{{ . }}]{{ end }}"`,
  ),
  query(
    'lines of two formats through both parsers',
    ...tenMinutes,
    '--limit=20',
    `${both} | json | logfmt | __error__=""`,
  ),
  {
    ...query(
      'a grid off the clock',
      '--from=2026-11-01T02:00:03.5Z',
      '--to=2026-11-01T02:10:07Z',
      '--step=37s',
      'sum(count_over_time({app="api-gateway"}[37s]))',
    ),
    as: 'samples',
  },
  {
    ...query(
      'comparisons one after another',
      ...hour,
      '--step=20m',
      '10 < sum by (pod) (count_over_time({app="api-gateway"}[20m])) < 1000 == bool 3',
    ),
    as: 'samples',
  },
  {
    ...instant(
      'a sorted vector to the letter',
      now,
      '--quiet',
      'sort(sum by (service_name) (count_over_time({namespace="prod"}[1h])))',
    ),
    as: 'text',
  },
  instant(
    'a label brought over from the other side',
    now,
    'sum by (app, pod) (count_over_time({app="api-gateway"}[1h])) * on (app) group_left (service_name) sum by (app, service_name) (count_over_time({app="api-gateway"}[1h]))',
  ),
  {
    ...instant(
      'a share by tenant',
      now,
      'sum by (__tenant_id__) (rate({service_name="checkout"}[1h])) / on () group_left sum(rate({service_name="checkout"}[1h]))',
    ),
    ...two,
  },
  refused('a variable of Grafana', 'query', ...hour, 'sum(rate({app="api-gateway"}[$__interval]))'),
  refused('quotes of a text processor', 'query', ...hour, '{app=“api-gateway”}'),
  refused('a query of Prometheus', 'query', ...hour, 'max_over_time(rate({app="api-gateway"}[5m])[1h:5m])'),
  labels('values through a forward proxy', ...day, '--proxy-url={address}', 'env'),
  labels('values of a name with signs of an address in it', ...day, 'app?query={app="orders"}'),
  labels('a range that ends before it begins', to.replace('to', 'from'), '--to=2026-11-01T02:00:00Z'),
  { ...series('all of several tenants', ...day, '{}'), ...two },
  stats('since', '--since=800h', every),
  { ...stats('an hour of everything', ...hour, every), differs: byChunks },
  {
    ...stats('ten seconds', '--from=2026-11-01T02:00:00Z', '--to=2026-11-01T02:00:10Z', gateway),
    differs: byChunks,
  },
  volume('two targets in one flag', ...day, '--limit=0', '--targetLabels=env,namespace', every),
  volumeRange(
    'steps of seven minutes and a half',
    ...hour,
    '--step=7m30s',
    '--targetLabels=namespace',
    every,
  ),
  fields('raw', ...hour, '--output=raw', gateway),
  { ...fields('values of a field, raw', ...hour, '--output=raw', gateway, 'path'), as: 'lines' },
  { ...fields('values of a field with a slash in its name', ...hour, gateway, 'user/name'), as: 'lines' },
  { ...refused('the list of deletions', 'delete', 'list'), ...nobody, differs: deletion },
  { ...refused('a deletion', 'delete', 'create', ...hour, '{app="nobody"}'), ...nobody, differs: deletion },
];
