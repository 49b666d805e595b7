import { apiError } from '../../core/base/errors/table.js';
import type { BackendOptions } from '../../core/base/options.gen.js';
import type { Host } from '../../core/plugin/index.js';
import { ClusterGauges } from '../../core/victoria/upstream/gates/cluster-gauges.js';
import { CallGate } from '../../core/victoria/upstream/gate.js';
import { GaugesReader } from '../../core/victoria/upstream/gates/gauges.js';
import { WaitedCalls, type GatesOptions } from '../../core/victoria/upstream/gates/gates.js';
import { HeavyGate } from '../../core/victoria/upstream/gates/heavy-gate.js';
import type { OwnCallsView } from '../../core/victoria/upstream/gates/own-calls.js';
import { PacedSlots } from '../../core/victoria/upstream/gates/paced-slots.js';
import { ScanGate } from '../../core/victoria/upstream/gates/scan-gate.js';
import type { MetricsPage } from '../../core/victoria/upstream/probe.js';
import type { backendMetrics } from './metrics.js';
import type { Logger } from '../../core/base/logger.js';
import type { BackendClient } from '../../core/victoria/upstream/client.js';

/** Number of permits for statistics over time if the option is 0. */
const defaultPermits = 4;
const maxWaitingStatistics = 500;
const gaugesWithinMs = 2_000;

/** The gates of one backend, shared by all exchanges. */
export function makeGates(
  options: BackendOptions,
  { meters, clock }: Pick<Host<typeof backendMetrics>, 'meters' | 'clock'>,
  pages: readonly MetricsPage[],
  own: OwnCallsView,
): GatesOptions {
  const nowMs = (): number => clock.monotonicMs();
  const queueWaitMs = options.heavyQueryQueueWait;
  const heavy = new HeavyGate({
    limit: options.maxConcurrentHeavyQueries,
    queueWaitMs,
    nowMs,
    onRefused: () => meters.backend_heavy_queries_refused_total.add(1, {}),
    onChange: (running, waiting) => {
      meters.backend_heavy_queries.set(running, { state: 'running' });
      meters.backend_heavy_queries.set(waiting, { state: 'waiting' });
    },
  });
  const ceiling = options.maxConcurrentMetadataScans;
  const scans = new ScanGate({
    ceiling,
    floor: Math.min(options.minConcurrentMetadataScans, ceiling),
    tolerance: options.metadataScanLatencyTolerance,
    headroom: options.metadataScanMemoryHeadroom,
    queueWaitMs,
    own,
    gauges: new ClusterGauges(
      pages.map(({ read }) => new GaugesReader(() => read(AbortSignal.timeout(gaugesWithinMs)), nowMs)),
    ),
    nowMs,
    random: Math.random,
    onRefused: (reason) => meters.backend_metadata_scans_refused_total.add(1, { reason }),
    onChange: (limit, running, waiting) => {
      meters.backend_metadata_scan_limit.set(limit, {});
      meters.backend_metadata_scans.set(running, { state: 'running' });
      meters.backend_metadata_scans.set(waiting, { state: 'waiting' });
    },
  });
  const permits = options.statsQueryRangeConcurrency || defaultPermits;
  const statistics = new CallGate({
    limit: permits,
    waitMs: options.timeout,
    nowMs,
    maxWaiting: maxWaitingStatistics,
    full: (limit, waiting) => apiError('statisticsQueueFull', { limit, waiting }),
    onChange: (running, waiting) => {
      meters.backend_statistics.set(running, { state: 'running' });
      meters.backend_statistics.set(waiting, { state: 'waiting' });
    },
  });
  const paced = new PacedSlots({
    permits,
    pauseMs: options.statsQueryRangeInterQueryDelay,
    onChange: (waiting) => meters.backend_drilldown_statistics_waiting.set(waiting, {}),
  });
  const waited = new WaitedCalls();
  const minRangeMs = options.heavyQueryMinRange;
  return { heavy, scans, statistics, paced, waited, minRangeMs, queueWaitMs, nowMs };
}

/** The metrics page at a URL, requested by `client`, which is bound to its origin. The first failure after a success is logged. */
export function metricsPage(
  url: URL,
  client: BackendClient,
  headers: Readonly<Record<string, string>>,
  log: Logger,
): MetricsPage {
  // The other parts of the URL may be secret.
  const process = url.origin;
  let hasFailed = false;
  const read = async (signal: AbortSignal): Promise<string> => {
    const answer = await client.call({
      path: url.pathname === '/' ? '/metrics' : url.pathname,
      method: 'GET',
      form: [...url.searchParams],
      headers,
      signal,
      statusRule: 'keep',
      isJson: false,
      isProbe: true,
    });
    const text = await answer.text();
    if (!metricOfVictoriaLogs.test(text)) throw new Error('they are not the metrics of VictoriaLogs');
    return text;
  };
  return {
    process,
    read: async (signal) => {
      try {
        const text = await read(signal);
        hasFailed = false;
        return text;
      } catch (error) {
        if (!hasFailed) log.warn(`cannot read the metrics of ${process}`, { error });
        hasFailed = true;
        throw error;
      }
    },
  };
}

const metricOfVictoriaLogs = /^(?:vl_|vm_app_version)/m;
