import type { Latency } from '../../core/kernel/plugin/host.js';
import type { RequestObserver, RequestRecord } from '../../core/plugin/index.js';
import { RecentTimes } from '../../core/kernel/telemetry/recent-times.js';

/** Number of calls to the backend since the process started, and the durations of the latest ones. */
export interface BackendFigures {
  readonly calls: number;
  /** Number of calls without an answer or with a status of 400 and above. */
  readonly errors: number;
  readonly ms: Latency | undefined;
}

/** Counts the backend calls of finished requests. A stage meter cannot: rows are pulled long after the backend stage has returned. */
export class BackendCalls implements RequestObserver {
  #calls = 0;
  #errors = 0;
  readonly #times = new RecentTimes();

  started(): void {
    // Calls are counted when their request has ended.
  }

  finished({ trace }: RequestRecord): void {
    for (const { status, durationMs } of trace.upstreamCalls) {
      this.#calls += 1;
      if (status === 0 || status >= 400) this.#errors += 1;
      this.#times.add(durationMs);
    }
  }

  figures(): BackendFigures {
    return { calls: this.#calls, errors: this.#errors, ms: this.#times.latency() };
  }
}
