import type { MetricSpecs } from '../../base/meters.js';
import { Expressions } from './expressions.js';

interface Panel {
  readonly title: string;
  readonly says: string;
  /** Unit in Grafana's notation. */
  readonly unit: string;
  /** True for a single figure instead of a graph over time. */
  readonly isFigure?: boolean;
  readonly isStacked?: boolean;
  /** Expressions with the legends of their series. */
  readonly shows: readonly (readonly [expression: string, legend: string])[];
}
interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/**
 * A dashboard for Grafana 9 and newer over a Prometheus or VictoriaMetrics that scrapes /metrics. The data source is selected on import;
 * the variables `job` and `instance` select replicas.
 */
export function generateDashboard(metrics: MetricSpecs): string {
  return `${JSON.stringify(dashboardOf(rowsOf(metrics)), undefined, 2)}\n`;
}

/** Every PromQL expression in the dashboard, with variables. */
export function dashboardExpressions(metrics: MetricSpecs): readonly string[] {
  return rowsOf(metrics).flatMap(({ panels }) =>
    panels.flatMap(({ shows }) => shows.map(([expression]) => expression)),
  );
}

const downstream = { direction: 'downstream' };
const upstream = { direction: 'upstream' };

function rowsOf(metrics: MetricSpecs): readonly Row[] {
  const e = new Expressions(metrics, '$__rate_interval', ['job=~"$job"', 'instance=~"$instance"']);
  return [
    {
      title: 'Now',
      panels: [
        {
          title: 'Requests',
          says: 'Client requests per second.',
          unit: 'reqps',
          isFigure: true,
          shows: [[e.rate('requests_total', [], downstream), 'requests']],
        },
        {
          title: 'Failed',
          says: 'Share of requests with status 500 or above.',
          unit: 'percentunit',
          isFigure: true,
          shows: [
            [
              `(${e.rate('requests_total', [], { ...downstream, status: '~5..' })} or vector(0)) / ${e.rate('requests_total', [], downstream)}`,
              'failed',
            ],
          ],
        },
        {
          title: 'Query latency, p99',
          says: 'Latency of range and instant queries.',
          unit: 's',
          isFigure: true,
          shows: [
            [e.quantile(0.99, 'request_duration_seconds', [], { endpoint: '~query|query_range' }), 'p99'],
          ],
        },
        {
          title: 'Circuit breaker',
          says: '0 closed, 1 open, 2 half-open; the worst of all replicas.',
          unit: 'none',
          isFigure: true,
          shows: [[e.largest('circuit_breaker_state'), 'state']],
        },
      ],
    },
    {
      title: 'Requests',
      panels: [
        {
          title: 'Requests by endpoint',
          says: 'Client requests per second.',
          unit: 'reqps',
          isStacked: true,
          shows: [[e.rate('requests_total', ['endpoint'], downstream), '{{endpoint}}']],
        },
        {
          title: 'Requests by status',
          says: 'Responses per second.',
          unit: 'reqps',
          isStacked: true,
          shows: [[e.rate('requests_total', ['status'], downstream), '{{status}}']],
        },
        {
          title: 'Request latency',
          says: 'p50, p95 and p99 of all requests.',
          unit: 's',
          shows: [0.5, 0.95, 0.99].map((ratio) => [
            e.quantile(ratio, 'request_duration_seconds'),
            `p${ratio * 100}`,
          ]),
        },
        {
          title: 'Request latency by endpoint, p95',
          says: 'p95 of the requests of each endpoint.',
          unit: 's',
          shows: [[e.quantile(0.95, 'request_duration_seconds', ['endpoint']), '{{endpoint}}']],
        },
        {
          title: 'In flight and queued',
          says: 'Requests that passed the guard, requests in its queue, and the current concurrency limit.',
          unit: 'none',
          shows: [
            [e.level('guard_in_flight'), 'running'],
            [e.level('guard_waiting'), 'waiting'],
            [e.level('guard_limit'), 'may run'],
          ],
        },
        {
          title: 'Refused',
          says: 'Requests refused by the guard, by reason, and backend calls refused because no permit was free.',
          unit: 'reqps',
          shows: [
            [e.rate('guard_rejected_total', ['reason']), '{{reason}}'],
            [e.rate('backend_heavy_queries_refused_total'), 'heavy queries'],
            [e.rate('backend_metadata_scans_refused_total'), 'metadata scans'],
            [e.rate('query_memory_refusals_total'), 'memory'],
          ],
        },
      ],
    },
    {
      title: 'Backend',
      panels: [
        {
          title: 'Calls by kind',
          says: 'Calls to VictoriaLogs per second.',
          unit: 'reqps',
          isStacked: true,
          shows: [[e.rate('requests_total', ['endpoint'], upstream), '{{endpoint}}']],
        },
        {
          title: 'Failed calls',
          says: 'Calls with a status other than 200, by status; 0 means no response.',
          unit: 'reqps',
          shows: [
            [
              e.rate('requests_total', ['endpoint', 'status'], { ...upstream, status: '~0|[45]..' }),
              '{{endpoint}} {{status}}',
            ],
          ],
        },
        {
          title: 'Call latency, p95',
          says: 'p95 of each kind of call.',
          unit: 's',
          shows: [[e.quantile(0.95, 'backend_duration_seconds', ['endpoint']), '{{endpoint}}']],
        },
        {
          title: 'Calls in flight',
          says: 'Running, and waiting for one of -max-concurrent permits.',
          unit: 'none',
          shows: [
            [e.level('backend_calls', ['state']), '{{state}}'],
            [e.level('backend_heavy_queries', ['state']), 'heavy, {{state}}'],
            [e.level('backend_metadata_scans', ['state']), 'scans, {{state}}'],
          ],
        },
        {
          title: 'Strategies of metric queries',
          says: 'Strategies for range aggregations; docs/strategies.md explains their costs.',
          unit: 'ops',
          shows: [[e.rate('metric_strategies_total', ['strategy'], { outcome: 'ran' }), '{{strategy}}']],
        },
      ],
    },
    {
      title: 'Caches',
      panels: [
        {
          title: 'Requests answered from a cache',
          says: 'Share of the requests that used a cache.',
          unit: 'percentunit',
          shows: [
            [
              `${e.rate('cache_hits_total')} / (${e.rate('cache_hits_total')} + ${e.rate('cache_misses_total')})`,
              'all',
            ],
            [
              `${e.rate('window_cache_hit_total')} / (${e.rate('window_cache_hit_total')} + ${e.rate('window_cache_miss_total')})`,
              'windows',
            ],
          ],
        },
        {
          title: 'Cache size',
          says: 'Memory cache, response cache and disk cache, in bytes.',
          unit: 'bytes',
          shows: [
            [e.level('memory_cache_bytes'), 'memory'],
            [e.level('compat_cache_bytes'), 'finished answers'],
            [e.level('disk_cache_bytes'), 'disk'],
          ],
        },
        {
          title: 'Shared answers',
          says: 'Answers from other replicas and the shared cache, and calls that joined an identical in-flight call.',
          unit: 'reqps',
          shows: [
            [e.rate('peer_cache_hits_total'), 'peers'],
            [e.rate('shared_cache_hits_total'), 'shared store'],
            [e.rate('coalesced_total'), 'joined'],
          ],
        },
        {
          title: 'Cache failures',
          says: 'A failure makes a request slower, but does not fail it.',
          unit: 'ops',
          shows: [
            [e.rate('disk_cache_errors_total'), 'disk'],
            [e.rate('shared_cache_errors_total', ['reason']), 'shared store, {{reason}}'],
            [e.rate('peer_cache_failures_total', ['reason']), 'peers, {{reason}}'],
          ],
        },
      ],
    },
    {
      title: 'Process',
      panels: [
        {
          title: 'CPU',
          says: 'CPU cores used by each replica.',
          unit: 'none',
          shows: [[e.rate('process_cpu_seconds_total', ['instance']), '{{instance}}']],
        },
        {
          title: 'Memory',
          says: 'Resident memory and heap of each replica.',
          unit: 'bytes',
          shows: [
            [e.level('process_resident_memory_bytes', ['instance']), '{{instance}} resident'],
            [e.level('process_heap_bytes', ['instance']), '{{instance}} heap'],
          ],
        },
        {
          title: 'Query memory',
          says: 'Memory reserved for running queries, and its limit.',
          unit: 'bytes',
          shows: [
            [e.level('query_memory_bytes'), 'set aside'],
            [e.level('query_memory_limit_bytes'), 'limit'],
          ],
        },
        {
          title: 'Event loop delay, p99',
          says: 'Time for which a process could not handle new events.',
          unit: 's',
          shows: [[e.quantile(0.99, 'guard_loop_delay_seconds', ['instance']), '{{instance}}']],
        },
        {
          title: 'Garbage collection pauses, p99',
          says: 'Duration of a single pause.',
          unit: 's',
          shows: [[e.quantile(0.99, 'go_gc_duration_seconds', ['instance']), '{{instance}}']],
        },
        {
          title: 'Pressure stall of the host',
          says: 'Share of the last minute in which some task waited.',
          unit: 'percentunit',
          shows: (['cpu', 'memory', 'io'] as const).map((resource) => [
            e.largest(`process_pressure_${resource}_some_ratio`, [], { window: '60s' }),
            resource,
          ]),
        },
      ],
    },
  ];
}

const source = { type: 'prometheus', uid: '${datasource}' };
const wholeWidth = 24;
const figure = { w: 6, h: 4 };
const graph = { w: 12, h: 8 };

function dashboardOf(rows: readonly Row[]): unknown {
  const panels: unknown[] = [];
  let y = 0;
  for (const { title, panels: inside } of rows) {
    const id = panels.length + 1;
    panels.push({
      id,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: wholeWidth, h: 1 },
    });
    y += 1;
    let [x, height] = [0, 0];
    for (const panel of inside) {
      const size = panel.isFigure === true ? figure : graph;
      if (x + size.w > wholeWidth) [x, y] = [0, y + height];
      panels.push(panelOf(panel, panels.length + 1, { x, y, ...size }));
      [x, height] = [x + size.w, size.h];
    }
    y += height;
  }
  return {
    uid: 'ref-proxy',
    title: 'ref-proxy',
    tags: ['logs'],
    description: 'Generated from the declarations of the metrics (npm run generate); do not edit.',
    schemaVersion: 38,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        variableOf('job', 'label_values(ref_proxy_uptime_seconds, job)'),
        variableOf('instance', 'label_values(ref_proxy_uptime_seconds{job=~"$job"}, instance)'),
      ],
    },
    panels,
  };
}

function variableOf(name: string, query: string): unknown {
  const all = { text: 'All', value: '$__all' };
  return {
    ...{ name, type: 'query', datasource: source, query: { query, refId: name }, definition: query },
    ...{ refresh: 2, includeAll: true, multi: true, allValue: '.*', current: all, sort: 1 },
  };
}

function panelOf(panel: Panel, id: number, gridPos: unknown): unknown {
  const { title, says: description, unit, shows, isFigure = false, isStacked = false } = panel;
  const targets = shows.map(([expr, legendFormat], at) => ({
    ...{ refId: String.fromCharCode(65 + at), datasource: source, expr, legendFormat },
  }));
  const custom = { fillOpacity: isStacked ? 30 : 0, stacking: { mode: isStacked ? 'normal' : 'none' } };
  const defaults = { unit, min: 0, ...(isFigure ? {} : { custom }) };
  return {
    ...{ id, type: isFigure ? 'stat' : 'timeseries', title, description, datasource: source, gridPos },
    fieldConfig: { defaults, overrides: [] },
    options: isFigure
      ? { reduceOptions: { calcs: ['lastNotNull'] } }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets,
  };
}
