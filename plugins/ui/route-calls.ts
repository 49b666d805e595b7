import type { Latency } from '../../core/kernel/plugin/host.js';
import type { RequestObserver, RequestRecord } from '../../core/plugin/index.js';
import { RecentTimes } from '../../core/kernel/telemetry/recent-times.js';

/** Requests on one route since the process started, with the durations of the latest ones. */
export interface RouteFigures {
  readonly route: string;
  readonly calls: number;
  /** Number of answers with a status of 400 and above. */
  readonly errors: number;
  readonly ms: Latency | undefined;
}

/** Maximum number of routes that are counted; a site may add routes of its own. */
const maxRoutes = 200;

interface Counted {
  calls: number;
  errors: number;
  readonly times: RecentTimes;
}

/** Counts the requests of all clients by route. */
export class RouteCalls implements RequestObserver {
  readonly #routes = new Map<string, Counted>();

  started(): void {
    // A request is counted when it has been answered.
  }

  finished({ requestType: route }: RequestRecord, status: number, durationMs: number): void {
    const counted = this.#routes.get(route) ?? this.#add(route);
    if (counted === undefined) return;
    counted.calls += 1;
    if (status >= 400) counted.errors += 1;
    counted.times.add(durationMs);
  }

  figures(): readonly RouteFigures[] {
    return [...this.#routes].map(([route, { calls, errors, times }]) => ({
      route,
      calls,
      errors,
      ms: times.latency(),
    }));
  }

  #add(route: string): Counted | undefined {
    if (this.#routes.size >= maxRoutes) return undefined;
    const counted = { calls: 0, errors: 0, times: new RecentTimes() };
    this.#routes.set(route, counted);
    return counted;
  }
}
