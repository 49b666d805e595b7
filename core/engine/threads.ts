import { LineWorkers } from '../logql/lines/line-workers.js';
import type { ResponseShapeOptions } from '../base/options.gen.js';
import type { Meters } from '../base/meters.js';

export const lineWorkerMetrics = {
  line_threads: { type: 'gauge', help: 'Threads that evaluate expensive lines.', labels: [] },
  line_threads_waiting: { type: 'gauge', help: 'Lines that wait for one of these threads.', labels: [] },
  line_threads_lines_total: {
    type: 'counter',
    help: 'Lines evaluated by these threads, by outcome.',
    labels: ['outcome'],
  },
} as const;

/** Creates the threads for lines that are too expensive for the event loop. */
export function createLineWorkers(
  { lineThreads, lineTimeout }: Pick<ResponseShapeOptions, 'lineThreads' | 'lineTimeout'>,
  { meters }: { readonly meters: Meters<typeof lineWorkerMetrics> },
): LineWorkers {
  return new LineWorkers({
    threads: lineThreads,
    timeoutMs: lineTimeout,
    observer: {
      changed: (threads, waiting) => {
        meters.line_threads.set(threads, {});
        meters.line_threads_waiting.set(waiting, {});
      },
      ended: (outcome) => {
        meters.line_threads_lines_total.add(1, { outcome });
      },
    },
  });
}
