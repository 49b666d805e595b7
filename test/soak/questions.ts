import type { Random } from '../watch/random.js';

export interface SoakQuestion {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

const minute = 60_000;
const day = 24 * 60 * minute;

const filters = ['', '|= "status=500"', '!= "status=200"', '|~ "orders/4.*"', '|= "duration=9"'];
const stages = ['', '| logfmt', '| logfmt | status >= 500', '| logfmt | duration > 900ms', '| json'];
const functions = ['count_over_time', 'rate', 'bytes_over_time', 'bytes_rate'];
const groupings = ['', 'sum', 'sum by (level)', 'sum by (app)', 'topk(3, sum by (pod)', 'avg by (namespace)'];

/** A query for logs like those of test/soak/logs.ts, over a part of the day before `nowMs`. */
export function questionOf(random: Random, nowMs: number): SoakQuestion {
  // Dashboards use a few fixed ranges and steps; users choose any.
  const isDashboard = random.below(2) === 0;
  const lengthMs = isDashboard
    ? random.pick([15 * minute, 60 * minute, 6 * 60 * minute, day])
    : Math.floor(minute * (day / minute) ** random.next());
  const endMs = isDashboard ? nowMs : nowMs - Math.floor(random.next() * (day - lengthMs));
  const range = { start: `${endMs - lengthMs}000000`, end: `${endMs}000000` };
  const selector = selectorOf(random);
  const logs = `${selector} ${random.pick(filters)} ${random.pick(stages)}`;
  switch (random.below(10)) {
    case 0:
      return { path: 'labels', params: range };
    case 1:
      return { path: `label/${random.pick(['app', 'pod', 'namespace', 'level'])}/values`, params: range };
    case 2:
      return { path: 'series', params: { ...range, 'match[]': selector } };
    case 3:
      return {
        path: random.pick(['index/volume', 'index/stats', 'detected_fields', 'patterns']),
        params: { ...range, query: selector },
      };
    case 4:
    case 5:
    case 6:
      return {
        path: 'query_range',
        params: { ...range, query: logs, limit: random.pick(['100', '1000', '5000']) },
      };
    default:
      return { path: 'query_range', params: { ...range, ...metricOf(random, logs, lengthMs) } };
  }
}

function selectorOf(random: Random): string {
  return random.pick([
    `{app="app-${random.below(20)}"}`,
    `{namespace="ns-${random.below(7)}"}`,
    `{app=~"app-1.*"}`,
    `{pod="pod-${random.below(200)}"}`,
    '{namespace=~".+"}',
  ]);
}

function metricOf(
  random: Random,
  logs: string,
  lengthMs: number,
): { readonly query: string; readonly step: string } {
  const step = String(Math.max(5, Math.ceil(lengthMs / 1_000 / random.pick([60, 250, 1_000]))));
  const interval = random.pick(['1m', '5m']);
  if (random.below(4) === 0)
    return {
      query: `quantile_over_time(0.9, ${logs} | logfmt | unwrap bytes | __error__="" [${interval}]) by (app)`,
      step,
    };
  const grouping = random.pick(groupings);
  const inner = `${random.pick(functions)}(${logs} | __error__="" [${interval}])`;
  const query = grouping === '' ? inner : `${grouping} (${inner})${grouping.startsWith('topk') ? ')' : ''}`;
  return { query, step };
}
