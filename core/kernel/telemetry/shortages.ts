import { isSystemError } from '../../base/errors/system-error.js';
import type { Clock } from '../../base/clock.js';
import type { LogFields, Logger } from '../../base/logger.js';
import type { Meters } from '../../base/meters.js';
import type { shortageMetrics } from './metrics-table.js';

const everyMs = 60_000;

const advice: ReadonlyMap<string, string> = new Map([
  ['EMFILE', 'the process has no free file descriptor: raise its limit (ulimit -n, LimitNOFILE in systemd)'],
  ['ENFILE', 'the machine has no free file descriptor: raise fs.file-max'],
  ['ENOMEM', 'the system is out of memory'],
]);

/** Failures of system calls for lack of resources. Each is counted, but only logged once a minute, because all work fails at once. */
export class Shortages {
  readonly #againAtMs = new Map<string, number>();

  constructor(
    private readonly log: Logger,
    private readonly meters: Meters<typeof shortageMetrics>,
    private readonly clock: Clock,
  ) {}

  /**
   * Handles an uncaught error; returns false if it is not a system error. Such an error concerns the machine and not the state of this
   * process: the affected work is lost, and the rest goes on.
   */
  took(error: unknown): boolean {
    if (!isSystemError(error)) return false;
    const { code } = error;
    this.meters.system_errors_total.add(1, { code });
    this.tell(advice.get(code) ?? 'a system call failed', { error }, code);
    return true;
  }

  /** Writes a record, at most once a minute for each key. */
  tell(body: string, fields: LogFields, key = body): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs < (this.#againAtMs.get(key) ?? -Infinity)) return;
    this.#againAtMs.set(key, nowMs + everyMs);
    this.log.error(body, fields);
  }
}
