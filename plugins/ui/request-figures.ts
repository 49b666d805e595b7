import type { Latency } from '../../core/kernel/plugin/host.js';
import type { RequestObserver, RequestRecord } from '../../core/plugin/index.js';
import { RecentTimes } from '../../core/kernel/telemetry/recent-times.js';

/** Calls since the process started, with the durations of the latest ones. */
export interface CallFigures {
  readonly calls: number;
  /** Number of calls without an answer or with a status of 400 and above. */
  readonly errors: number;
  readonly ms: Latency | undefined;
}

/** The requests of all clients on one route. */
export interface RouteFigures extends CallFigures {
  readonly route: string;
}

/** Maximum number of routes that are counted; a site may add routes of its own. */
const maxRoutes = 200;

class CallCounter {
  #calls = 0;
  #errors = 0;
  readonly #times = new RecentTimes();

  add(status: number, durationMs: number): void {
    this.#calls += 1;
    if (status === 0 || status >= 400) this.#errors += 1;
    this.#times.add(durationMs);
  }

  figures(): CallFigures {
    return { calls: this.#calls, errors: this.#errors, ms: this.#times.latency() };
  }
}

/** Counts finished requests by route, and their backend calls. A stage meter cannot: rows are pulled long after the backend stage has returned. */
export class RequestFigures implements RequestObserver {
  readonly #backend = new CallCounter();
  readonly #routes = new Map<string, CallCounter>();

  started(): void {
    // A request is counted when it has ended.
  }

  finished({ trace, requestType: route }: RequestRecord, status: number, durationMs: number): void {
    for (const call of trace.upstreamCalls) this.#backend.add(call.status, call.durationMs);
    const counted = this.#routes.get(route) ?? new CallCounter();
    if (!this.#routes.has(route) && this.#routes.size >= maxRoutes) return;
    this.#routes.set(route, counted);
    counted.add(status, durationMs);
  }

  backend(): CallFigures {
    return this.#backend.figures();
  }

  routes(): readonly RouteFigures[] {
    return [...this.#routes].map(([route, counted]) => ({ route, ...counted.figures() }));
  }
}
