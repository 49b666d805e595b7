import {
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
  volume,
  volumeRange,
} from './make-cases.js';
import type { LogcliCase } from './types.js';

const now = '--now=2026-11-01T03:00:00Z';
const nginx = '{service_name="nginx-ingress"}';
const syslog = '{job="syslog"}';
const kubelet = '{job="kubelet"}';
const access = 'pattern `<ip> - <user> [<_>] "<method> <path> <_>" <status> <size> "<referer>" "<agent>"`';

function samples(each: LogcliCase): LogcliCase {
  return { ...each, as: 'samples' };
}

/** Realistic user queries that combine several parts of the language. */
export const questions: readonly LogcliCase[] = [
  query(
    'slow requests of one method',
    ...hour,
    `${gateway} | json method, ms="duration_ms" | method="POST" | ms > 900`,
  ),
  query(
    'either of two words or an expression',
    ...hour,
    `${gateway} |= "orders" or "users" |~ "(?i)post|delete"`,
  ),
  query('neither of three words', ...hour, `${checkout} != "info" or "debug" or "took=1"`),
  query('an expression that starts with any text', ...tenMinutes, `${gateway} |~ ".*completed.*users"`),
  query('a label that contains a text', ...hour, `${nginx} | ${access} | path=~"/api.*" | status!~"2.."`),
  query('an expression without case', ...hour, `${syslog} |~ "(?i)FAILED|denied"`),
  query('a pattern as filter', ...hour, `${nginx} |> "<_> \\"GET /api<_>\\" 5<_>"`),
  query('what a pattern leaves', ...hour, '--limit=50', `${kubelet} !> "I<_>"`),
  query(
    'the processes of klog lines',
    ...tenMinutes,
    `${kubelet} | regexp "^(?P<sev>[IWEF])\\\\d{4} \\\\S+ +(?P<pid>\\\\d+) (?P<file>[^:]+):(?P<at>\\\\d+)" | keep sev, file, at`,
  ),
  query(
    'a nested field by its path',
    ...hour,
    `${payments} | json cur="event.amount.currency", n="event.amount.value" | cur="EUR" | n > 50`,
  ),
  query(
    'labels renamed and dropped',
    ...hour,
    '--limit=60',
    `${checkout} | logfmt | label_format who=user_id, cost="{{ .amount }} {{ .currency }}" | drop amount, currency, ts | who!=""`,
  ),
  query(
    'a template with a default and a choice',
    ...hour,
    '--limit=80',
    `${payments} | json | line_format "{{ default \\"-\\" .event_type | upper }}|{{ if contains \\"fail\\" .msg }}F{{ else }}.{{ end }}|{{ __timestamp__ | unixEpochMillis }}"`,
  ),
  query(
    'sizes and durations compared',
    ...hour,
    `${checkout} | logfmt | took > 250ms and size >= 2KB or amount > 480`,
  ),
  query(
    'lines of two services, raw and forward',
    ...tenMinutes,
    '--forward',
    '--output=raw',
    '--limit=0',
    '{service_name=~"checkout|payments"} |= "error" or "declined"',
  ),
  query(
    'an address in a range and not in another',
    ...hour,
    `${nginx} |= ip("10.0.0.0/8") != ip("10.1.0.0/16") | ${access} | status >= 400`,
  ),
  query(
    'levels by what the lines say',
    ...hour,
    '--limit=100',
    `${every} | detected_level=~"error|critical|fatal" != "Exception"`,
  ),
  samples(
    query(
      'shares of status classes',
      ...hour,
      '--step=15m',
      `sum by (class) (rate(${nginx} | ${access} | label_format class="{{ .status | trunc 1 }}xx" [15m])) / ignoring(class) group_left sum(rate(${nginx} [15m]))`,
    ),
  ),
  samples(
    query(
      'a histogram by level',
      ...day,
      '--step=30m',
      `sum by (detected_level) (count_over_time(${every} | drop __error__ [30m]))`,
    ),
  ),
  samples(
    query(
      'the slowest pods at each step',
      ...hour,
      '--step=10m',
      `topk(2, quantile_over_time(0.95, ${gateway} | json | __error__="" | unwrap duration_ms [10m]) by (pod))`,
    ),
  ),
  samples(
    query(
      'bytes sent by path',
      ...hour,
      '--step=20m',
      `bottomk(3, sum by (path) (sum_over_time(${nginx} | ${access} | size!="-" | unwrap bytes(size) | __error__="" [20m])))`,
    ),
  ),
  samples(
    query(
      'now against an hour ago',
      ...hour,
      '--step=30m',
      `sum by (level) (count_over_time(${gateway}[30m])) - sum by (level) (count_over_time(${gateway}[30m] offset 1h)) > 0`,
    ),
  ),
  samples(
    query(
      'first and last by pod',
      ...hour,
      '--step=30m',
      `last_over_time(${gateway} | json | unwrap duration_ms [30m]) by (pod) unless on (pod) first_over_time(${gateway} | json | unwrap duration_ms [30m]) by (pod) > 500`,
    ),
  ),
  samples(
    query(
      'spread of durations',
      ...hour,
      '--step=20m',
      `stddev_over_time(${checkout} | logfmt | unwrap duration(took) | __error__="" [20m]) by (pod)`,
    ),
  ),
  samples(
    instant(
      'counts of counts',
      now,
      `count by (level) (sum by (pod, level) (count_over_time(${gateway}[1h])) > 20)`,
    ),
  ),
  samples(
    instant(
      'joined labels',
      now,
      `label_join(max by (pod, level) (count_over_time(${gateway}[30m])), "id", "/", "pod", "level")`,
    ),
  ),
  samples(
    instant(
      'every service beside its share',
      now,
      'sort_desc(sum by (service_name) (bytes_over_time({namespace="prod"}[1h])) / scalar(sum(bytes_over_time({namespace="prod"}[1h]))))',
    ),
  ),
  samples(
    instant(
      'which services are silent',
      now,
      `sum by (service_name) (count_over_time(${every}[3h])) unless sum by (service_name) (count_over_time(${every}[1h]))`,
    ),
  ),
  samples(
    instant(
      'variance of parsed sizes',
      now,
      `stdvar_over_time(${checkout} | logfmt | unwrap bytes(size) | __error__="" [1h]) by (namespace)`,
    ),
  ),
  labels(
    'values by the minute after',
    '--from=2026-11-01T05:00:00Z',
    '--to=2026-11-01T05:59:59.999999999Z',
    'service_name',
  ),
  series('by a negative expression', ...day, '{namespace!~"prod|lab", service_name!=""}'),
  stats('ten minutes of everything but one', ...day, '{service_name!="checkout", namespace=~"prod.*"}'),
  volume(
    'by two labels, the first four',
    ...day,
    '--limit=4',
    '--targetLabels=service_name',
    '--targetLabels=env',
    '{namespace="prod"}',
  ),
  volumeRange('by namespace in two hours', ...day, '--step=2h', '--targetLabels=namespace', every),
  fields('of lines that fail', ...hour, `${payments} |= "fail"`),
  { ...fields('values of a field of logfmt', ...hour, checkout, 'currency'), as: 'lines' },
  fields(
    'after labels are renamed',
    ...hour,
    `${checkout} | logfmt | label_format money=amount | drop amount`,
  ),
  refused('a group name twice', 'query', ...hour, `${gateway} | regexp "(?P<a>x)(?P<a>y)"`),
  refused('an address that is none', 'query', ...hour, `${nginx} |= "a" |= ip("10.0.0")`),
  refused(
    'a wrong parameter of a quantile',
    'instant-query',
    now,
    `quantile_over_time("a", ${gateway} | unwrap a [1m])`,
  ),
];
