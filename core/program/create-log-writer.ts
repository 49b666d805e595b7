import { type LogDestination, type LogForm, LogWriter, lostLinesRecord } from '../kernel/telemetry/logger.js';
import type { MeterRegistry } from '../kernel/telemetry/meters.js';
import { logMetrics } from '../kernel/telemetry/metrics-table.js';
import type { Joined } from '../workers/workers.js';

/** Creates the log writer, which counts lost lines. */
export function createLogWriter(
  destination: LogDestination,
  { form, isBuffered }: { readonly form: LogForm; readonly isBuffered: boolean },
  registry: MeterRegistry,
  joined: Joined | undefined,
): LogWriter {
  const { log_records_lost_total: lost } = registry.create(logMetrics);
  return new LogWriter(destination, {
    isBuffered,
    isShared: joined !== undefined,
    lostLine: (count) => lostLinesRecord(count, form),
    onLost: (count, reason) => lost.add(count, { reason }),
  });
}
