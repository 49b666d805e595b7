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
          says: 'Requests of clients, a second.',
          unit: 'reqps',
          isFigure: true,
          shows: [[e.rate('requests_total', [], downstream), 'requests']],
        },
        {
          title: 'Failed',
          says: 'Part of the requests that ended with status 500 or more.',
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
          title: '99 of 100 queries below',
          says: 'Time of range and instant queries.',
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
          says: 'Requests of clients, a second.',
          unit: 'reqps',
          isStacked: true,
          shows: [[e.rate('requests_total', ['endpoint'], downstream), '{{endpoint}}']],
        },
        {
          title: 'Requests by status',
          says: 'Answers, a second.',
          unit: 'reqps',
          isStacked: true,
          shows: [[e.rate('requests_total', ['status'], downstream), '{{status}}']],
        },
        {
          title: 'Time of requests',
          says: 'What half, 95 and 99 of 100 requests were below.',
          unit: 's',
          shows: [0.5, 0.95, 0.99].map((ratio) => [
            e.quantile(ratio, 'request_duration_seconds'),
            `p${ratio * 100}`,
          ]),
        },
        {
          title: 'Time of requests by endpoint, p95',
          says: 'What 95 of 100 requests of an endpoint were below.',
          unit: 's',
          shows: [[e.quantile(0.95, 'request_duration_seconds', ['endpoint']), '{{endpoint}}']],
        },
        {
          title: 'In flight and waiting',
          says: 'Requests that run behind the guard, that wait for their turn there, and how many may run.',
          unit: 'none',
          shows: [
            [e.level('guard_in_flight'), 'running'],
            [e.level('guard_waiting'), 'waiting'],
            [e.level('guard_limit'), 'may run'],
          ],
        },
        {
          title: 'Refused',
          says: 'Requests refused by the guard, by reason, and calls that found no place at the backend.',
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
          says: 'Calls to VictoriaLogs, a second.',
          unit: 'reqps',
          isStacked: true,
          shows: [[e.rate('requests_total', ['endpoint'], upstream), '{{endpoint}}']],
        },
        {
          title: 'Failed calls',
          says: 'Calls that were not answered with 200, by status; 0 is no answer.',
          unit: 'reqps',
          shows: [
            [
              e.rate('requests_total', ['endpoint', 'status'], { ...upstream, status: '~0|[45]..' }),
              '{{endpoint}} {{status}}',
            ],
          ],
        },
        {
          title: 'Time of calls, p95',
          says: 'What 95 of 100 calls of a kind were below.',
          unit: 's',
          shows: [[e.quantile(0.95, 'backend_duration_seconds', ['endpoint']), '{{endpoint}}']],
        },
        {
          title: 'Calls under way',
          says: 'Running, and waiting for one of -max-concurrent places.',
          unit: 'none',
          shows: [
            [e.level('backend_calls', ['state']), '{{state}}'],
            [e.level('backend_heavy_queries', ['state']), 'heavy, {{state}}'],
            [e.level('backend_metadata_scans', ['state']), 'scans, {{state}}'],
          ],
        },
        {
          title: 'How metric queries are read',
          says: 'Strategies for range aggregations; docs/strategies.md tells what each costs.',
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
          says: 'Part of those that asked one.',
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
          title: 'Bytes kept',
          says: 'In memory, as finished bytes, on disk.',
          unit: 'bytes',
          shows: [
            [e.level('memory_cache_bytes'), 'memory'],
            [e.level('compat_cache_bytes'), 'finished answers'],
            [e.level('disk_cache_bytes'), 'disk'],
          ],
        },
        {
          title: 'Shared with others',
          says: 'Answers from other replicas and the shared store, and calls that joined one in flight.',
          unit: 'reqps',
          shows: [
            [e.rate('peer_cache_hits_total'), 'peers'],
            [e.rate('shared_cache_hits_total'), 'shared store'],
            [e.rate('coalesced_total'), 'joined'],
          ],
        },
        {
          title: 'Failures of caches',
          says: 'Each costs time and no answer.',
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
          title: 'Processor time',
          says: 'Processors in use by each replica.',
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
          title: 'Memory of queries',
          says: 'Set aside for running queries, and what there may be.',
          unit: 'bytes',
          shows: [
            [e.level('query_memory_bytes'), 'set aside'],
            [e.level('query_memory_limit_bytes'), 'limit'],
          ],
        },
        {
          title: 'Longest turns of the event loop, p99',
          says: 'For how long a process could not attend to anything new.',
          unit: 's',
          shows: [[e.quantile(0.99, 'guard_loop_delay_seconds', ['instance']), '{{instance}}']],
        },
        {
          title: 'Pauses by garbage collection, p99',
          says: 'Each of them.',
          unit: 's',
          shows: [[e.quantile(0.99, 'go_gc_duration_seconds', ['instance']), '{{instance}}']],
        },
        {
          title: 'Pressure on the machine',
          says: 'Part of the last minute in which some task waited.',
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
