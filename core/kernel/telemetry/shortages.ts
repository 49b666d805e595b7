import { isSystemError } from '../../base/errors/system-error.js';
import type { Clock } from '../../base/clock.js';
import type { LogFields, Logger } from '../../base/logger.js';
import type { Meters } from '../../base/meters.js';
import type { shortageMetrics } from './metrics-table.js';

const everyMs = 60_000;

const advice: ReadonlyMap<string, string> = new Map([
  ['EMFILE', 'the process has no file descriptor left: raise its limit (ulimit -n, LimitNOFILE of systemd)'],
  ['ENFILE', 'the machine has no file descriptor left: raise fs.file-max'],
  ['ENOMEM', 'the system has no memory left'],
]);

/** Calls that the system refuses this process. Each is counted, and told once a minute, because it comes with all work at once. */
export class Shortages {
  readonly #againAtMs = new Map<string, number>();

  constructor(
    private readonly log: Logger,
    private readonly meters: Meters<typeof shortageMetrics>,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes an error that nothing caught; false for one that is not the system's. It says something about the machine and nothing about the
   * state of this process: what met it is lost, and the rest goes on.
   */
  took(error: unknown): boolean {
    if (!isSystemError(error)) return false;
    const { code } = error;
    this.meters.system_errors_total.add(1, { code });
    this.tell(advice.get(code) ?? 'the system refused a call', { error }, code);
    return true;
  }

  /** Writes a record unless there was one within the last minute. */
  tell(body: string, fields: LogFields, key = body): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs < (this.#againAtMs.get(key) ?? -Infinity)) return;
    this.#againAtMs.set(key, nowMs + everyMs);
    this.log.error(body, fields);
  }
}
