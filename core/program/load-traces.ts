import type { TelemetryOptions } from '../base/options.gen.js';
import type { LoggerFactory } from '../kernel/telemetry/logger.js';
import type { MeterRegistry } from '../kernel/telemetry/meters.js';
import { traceMetrics } from '../kernel/telemetry/metrics-table.js';
import type { Traces } from '../kernel/telemetry/traces.js';

/** Loads tracing, with its libraries, only if it is configured. */
export async function loadTraces(
  telemetry: TelemetryOptions,
  registry: MeterRegistry,
  loggers: LoggerFactory,
): Promise<Traces | undefined> {
  const { otlpTracesEndpoint } = telemetry;
  if (otlpTracesEndpoint === undefined) return undefined;
  const { Traces } = await import('../kernel/telemetry/traces.js');
  const needs = { meters: registry.create(traceMetrics), log: loggers.component('otlp_traces') };
  return new Traces({ ...telemetry, otlpTracesEndpoint }, needs);
}
