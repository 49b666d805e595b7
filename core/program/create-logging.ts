import type { TelemetryOptions } from '../base/options.gen.js';
import type { LogFields } from '../base/logger.js';
import type { Secrets } from '../base/secrets.js';
import {
  createLoggers,
  type LogDestination,
  logFormOf,
  type LoggerFactory,
  LogWriter,
  lostLinesRecord,
} from '../kernel/telemetry/logger.js';
import type { MeterRegistry } from '../kernel/telemetry/meters.js';
import { logMetrics } from '../kernel/telemetry/metrics-table.js';

/** Creates the loggers of a process with their writer, which counts lost lines. `fields` are in every record. */
export function createLogging(
  telemetry: TelemetryOptions,
  secrets: Secrets,
  registry: MeterRegistry,
  logTo: LogDestination,
  how: { readonly isBuffered: boolean; readonly isShared: boolean; readonly fields?: LogFields },
): { readonly writer: LogWriter; readonly loggers: LoggerFactory } {
  const form = logFormOf(telemetry, logTo);
  const { log_records_lost_total: lost } = registry.create(logMetrics);
  const writer = new LogWriter(logTo, {
    isBuffered: how.isBuffered,
    isShared: how.isShared,
    lostLine: (count) => lostLinesRecord(count, form),
    onLost: (count, reason) => lost.add(count, { reason }),
  });
  return { writer, loggers: createLoggers(telemetry.logLevel, writer, how.fields, secrets, form) };
}
