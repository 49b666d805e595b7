import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { Observed } from './series.js';

/** Seconds; most pauses are below a millisecond. */
export const collectionBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1] as const;

/** What the garbage collector has done in this process. */
export interface Collections {
  /** Whole collections; their steps are not counted. */
  readonly count: number;
  readonly pauses: Observed;
}

const whole: ReadonlySet<number> = new Set([
  constants.NODE_PERFORMANCE_GC_MAJOR,
  constants.NODE_PERFORMANCE_GC_MINOR,
]);
interface Kind {
  readonly kind: number;
}

let watched: Collections | undefined;

/** Counted since the first call. There is one count, because a process has one garbage collector however many proxies run in it. */
export function collections(): Collections {
  return (watched ??= watch());
}

function watch(): Collections {
  const seen = { count: 0, pauses: new Observed('go_gc_duration_seconds', {}, collectionBuckets) };
  const observer = new PerformanceObserver((list) => {
    // Entries of this type have the kind of the collection as detail.
    for (const { duration, detail } of list.getEntries() as (PerformanceEntry & { detail: Kind })[]) {
      seen.pauses.observe(duration / 1000);
      if (whole.has(detail.kind)) seen.count += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return seen;
}
