import { availableParallelism } from 'node:os';
import { LineWorkers } from '../logql/lines/line-workers.js';
import type { ResponseShapeOptions } from '../base/options.gen.js';
import type { Meters } from '../base/meters.js';
import { RowThreads } from './metric/threads/row-threads.js';

export const lineWorkerMetrics = {
  line_threads: { type: 'gauge', help: 'Threads that evaluate expensive lines.', labels: [] },
  line_threads_waiting: { type: 'gauge', help: 'Lines that wait for one of these threads.', labels: [] },
  line_threads_lines_total: {
    type: 'counter',
    help: 'Lines evaluated by these threads, by outcome.',
    labels: ['outcome'],
  },
} as const;

export const rowThreadMetrics = {
  row_threads: { type: 'gauge', help: 'Threads that count the rows of metric queries.', labels: [] },
  row_threads_jobs: {
    type: 'gauge',
    help: 'Range aggregations whose rows are being counted in these threads.',
    labels: [],
  },
  row_threads_jobs_total: {
    type: 'counter',
    help: 'Range aggregations whose rows were counted in these threads, by outcome.',
    labels: ['outcome'],
  },
} as const;

/** Creates the threads for metric queries over many rows. */
export function createRowThreads(
  { rowThreads, rowThreadsMinRows }: Pick<ResponseShapeOptions, 'rowThreads' | 'rowThreadsMinRows'>,
  lines: Pick<LineWorkers, 'run'>,
  { meters }: { readonly meters: Meters<typeof rowThreadMetrics> },
): RowThreads {
  return new RowThreads({
    threads: rowThreads === 'auto' ? Math.max(availableParallelism() - 1, 1) : Number(rowThreads),
    minRows: rowThreadsMinRows,
    lines,
    observer: {
      changed: (threads, jobs) => {
        meters.row_threads.set(threads, {});
        meters.row_threads_jobs.set(jobs, {});
      },
      ended: (outcome) => {
        meters.row_threads_jobs_total.add(1, { outcome });
      },
    },
  });
}

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
