import { apiError } from '../base/errors/table.js';
import type { Clock } from '../base/clock.js';
import type { Pipeline } from '../kernel/pipeline/types.js';
import { MeterRegistry, RequestMetrics } from '../kernel/telemetry/meters.js';
import { requestMetrics } from '../kernel/telemetry/metrics-table.js';
import { ProcReader } from '../kernel/telemetry/proc/reader.js';
import { registerProcessMetrics } from '../kernel/telemetry/process-metrics.js';
import type { Measurements } from '../kernel/telemetry/series.js';
import type { Joined } from '../workers/workers.js';
import { exposeTopic, measurementsTopic } from './worker-topics.js';

/** Access to the metrics of a process; `measurements` are its own, `expose` those of all. */
export function createMetering({ telemetry }: Pipeline, clock: Clock, joined: Joined | undefined) {
  const registry = new MeterRegistry();
  const proc = new ProcReader(telemetry);
  registerProcessMetrics(registry.registry, proc);
  const requests = new RequestMetrics(registry.create(requestMetrics), telemetry, clock);
  const { metricsMaxConcurrency } = telemetry;
  const collect = (): Promise<void> => {
    requests.collect();
    return proc.read();
  };
  const measurements = async (): Promise<Measurements> => {
    await collect();
    return registry.measurements();
  };
  joined?.answer(measurementsTopic, measurements);
  let running = 0;
  const expose = async (): ReturnType<MeterRegistry['expose']> => {
    if (metricsMaxConcurrency > 0 && running >= metricsMaxConcurrency) throw apiError('scrapeBusy', {});
    running += 1;
    try {
      if (joined !== undefined) return await joined.askFirst(exposeTopic, null);
      await collect();
      return await registry.expose();
    } finally {
      running -= 1;
    }
  };
  return { registry, proc, requests, expose, measurements };
}
