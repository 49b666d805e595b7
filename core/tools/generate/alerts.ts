import { stringify } from 'yaml';
import type { MetricSpecs } from '../../base/meters.js';
import { Expressions } from './expressions.js';

/** An alert of examples/monitoring/alerts.yaml. */
interface Alert {
  readonly name: string;
  /** Name of its runbook: docs/runbooks/<page>.md. */
  readonly page: string;
  readonly severity: 'critical' | 'warning';
  /** The condition in PromQL. */
  readonly expression: string;
  /** Time for which the expression must hold. */
  readonly holds: string;
  readonly summary: string;
}

/**
 * Base URL of the runbooks. It is a placeholder, since the project has no public site yet: replace it with yours (docs/runbooks/README.md).
 */
const runbooksUrl = 'https://ref-proxy.example/docs/runbooks';

const head = `# Alert rules for Prometheus, vmalert and others that read its form. Generated from the declarations of the metrics
# (npm run generate); do not edit. What to do about each is in docs/runbooks: put the address where you publish it in place of
# ${runbooksUrl}.
`;

/** The alert rules as a Prometheus file. */
export function generateAlerts(metrics: MetricSpecs): string {
  const rules = alertsOf(metrics).map(({ name, page, severity, expression, holds, summary }) => ({
    alert: name,
    expr: expression,
    for: holds,
    labels: { severity },
    annotations: { summary, runbook_url: `${runbooksUrl}/${page}.md` },
  }));
  return head + stringify({ groups: [{ name: 'ref-proxy', rules }] }, { lineWidth: 0 });
}

/** The alerts; throws an Error for a metric that is not declared. */
export function alertsOf(metrics: MetricSpecs): readonly Alert[] {
  const lately = new Expressions(metrics, '5m');
  const quarter = new Expressions(metrics, '15m');
  const downstream = { direction: 'downstream' };
  const requests = lately.rate('requests_total', [], downstream);
  const failed = lately.rate('requests_total', [], { ...downstream, status: '~5..' });
  return [
    {
      name: 'RefProxyAbsent',
      page: 'absent',
      severity: 'critical',
      expression: `absent(${lately.largest('uptime_seconds')})`,
      holds: '5m',
      summary: 'Prometheus scrapes no replica of ref-proxy.',
    },
    {
      name: 'RefProxyBackendUnreachable',
      page: 'backend-unreachable',
      severity: 'critical',
      expression: `${lately.largest('circuit_breaker_state')} > 0`,
      holds: '2m',
      summary: 'The circuit breaker of a replica is open: VictoriaLogs is unreachable.',
    },
    {
      name: 'RefProxyFailing',
      page: 'failing',
      severity: 'critical',
      expression: `${failed} / ${requests} > 0.05`,
      holds: '10m',
      summary: 'More than 5% of requests fail with status 500 or above.',
    },
    {
      name: 'RefProxySlow',
      page: 'slow',
      severity: 'warning',
      expression: `${lately.quantile(0.95, 'request_duration_seconds', [], { endpoint: '~query|query_range' })} > 10`,
      holds: '15m',
      summary: 'p95 query latency is above 10 seconds.',
    },
    {
      name: 'RefProxyRefusing',
      page: 'refusing',
      severity: 'warning',
      expression: `(${lately.rate('guard_rejected_total', [], { reason: '~rate|concurrency|overload' })} or vector(0)) + ${lately.rate('backend_heavy_queries_refused_total')} > 0.02 * ${requests}`,
      holds: '10m',
      summary:
        'More than 2% of requests are refused because of the rate limit, the concurrency limit or a queue timeout.',
    },
    {
      name: 'RefProxyQueryMemory',
      page: 'query-memory',
      severity: 'warning',
      expression: `${quarter.growth('query_memory_refusals_total')} > 0`,
      holds: '0m',
      summary: 'Queries are refused because they need too much memory.',
    },
    {
      name: 'RefProxyEventLoopHeld',
      page: 'event-loop-held',
      severity: 'warning',
      expression: `${lately.quantile(0.99, 'guard_loop_delay_seconds', ['instance'])} > 0.5`,
      holds: '10m',
      summary: 'The event loop of a replica is blocked for half a second at a time.',
    },
    {
      name: 'RefProxyPluginDefect',
      page: 'plugin-defect',
      severity: 'warning',
      expression: `${quarter.growth('plugin_defects_total')} > 0`,
      holds: '0m',
      summary: 'Requests fail because of a bug in a plugin.',
    },
    {
      name: 'RefProxyWorkersDie',
      page: 'workers-die',
      severity: 'warning',
      expression: `${quarter.growth('worker_restarts_total')} > 2`,
      holds: '0m',
      summary: 'Workers crashed and were replaced several times within 15 minutes.',
    },
    {
      name: 'RefProxyCacheFailing',
      page: 'cache-failing',
      severity: 'warning',
      expression: `${quarter.growth('disk_cache_errors_total')} > 0 or ${quarter.growth('shared_cache_errors_total')} > 5`,
      holds: '5m',
      summary: 'The disk cache or the shared cache fails; requests go to the backend instead.',
    },
    {
      name: 'RefProxyLogLost',
      page: 'log-lost',
      severity: 'warning',
      expression: `${quarter.growth('log_records_lost_total')} > 0`,
      holds: '0m',
      summary: 'Log records are lost: the log is full, closed or too slow.',
    },
    {
      name: 'RefProxyReloadRefused',
      page: 'reload-refused',
      severity: 'warning',
      expression: `${lately.smallest('reload_last_successful')} == 0`,
      holds: '5m',
      summary: 'A replica could not reload its pipeline file and still serves the previous pipeline.',
    },
    {
      name: 'RefProxyPipelinesDiffer',
      page: 'pipelines-differ',
      severity: 'warning',
      expression: `count(${lately.largest('pipeline_info', ['hash'])} > 0) > 1`,
      holds: '30m',
      summary: 'Replicas serve different pipelines.',
    },
    {
      name: 'RefProxyTenantMapStale',
      page: 'tenant-map-stale',
      severity: 'warning',
      expression: `${quarter.growth('tenant_map_reloads_total', { outcome: 'error' })} > 0`,
      holds: '5m',
      summary: 'The tenant map cannot be reloaded, so the old one stays in use.',
    },
  ];
}
