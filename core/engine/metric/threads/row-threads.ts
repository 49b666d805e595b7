import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { endThread } from '../../../base/end-thread.js';
import { apiError } from '../../../base/errors/table.js';
import type { Meters } from '../../../base/meters.js';
import type { ResponseShapeOptions } from '../../../base/options.gen.js';
import type { LineWorkers } from '../../../logql/lines/line-workers.js';
import type { CountingWork, FromThread, ToThread } from './messages.js';
import { RowJob, type JobOwner } from './row-job.js';
import { startTimer } from '../../../base/time/waits.js';

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

interface Thread {
  readonly worker: Worker;
  readonly jobs: Map<number, RowJob>;
  timer: NodeJS.Timeout | undefined;
}

/** Idle threads end after this time. Starting a thread takes a tenth of a second. */
const idleMs = 30_000;

/**
 * Threads that count rows, which keeps the event loop free for other requests. The jobs of a thread take turns, one message at a time. The
 * number of jobs is bounded by the number of admitted requests.
 */
export class RowThreads {
  /** Maximum number of threads; they start on demand and end when idle. 0 means that nothing is counted in threads. */
  readonly #most: number;
  /** Minimum number of rows to count in a thread: sending a job takes longer than counting fewer. */
  readonly #minRows: number;
  readonly #lines: Pick<LineWorkers, 'run'>;
  readonly #meters: Meters<typeof rowThreadMetrics>;
  readonly #threads = new Set<Thread>();
  #lastJob = 0;

  /** @param lines evaluates expensive lines */
  constructor(
    { rowThreads, rowThreadsMinRows }: Pick<ResponseShapeOptions, 'rowThreads' | 'rowThreadsMinRows'>,
    lines: Pick<LineWorkers, 'run'>,
    meters: Meters<typeof rowThreadMetrics>,
  ) {
    this.#most = rowThreads === 'auto' ? Math.max(availableParallelism() - 1, 1) : Number(rowThreads);
    this.#minRows = rowThreadsMinRows;
    this.#lines = lines;
    this.#meters = meters;
  }

  /** Starts a job for this number of rows in the thread with the fewest jobs; undefined if they are to be counted on the event loop. */
  begin(rows: number, work: CountingWork, owner: JobOwner): RowJob | undefined {
    if (rows < this.#minRows) return undefined;
    const thread = this.#threadForOneMore();
    if (thread === undefined) return undefined;
    const id = ++this.#lastJob;
    const { jobs, worker } = thread;
    const post = (message: object): void => {
      if (jobs.has(id)) worker.postMessage({ ...message, job: id });
    };
    const job = new RowJob(owner, this.#lines, post, (outcome) => {
      this.#close(thread, id, outcome);
    });
    clearTimeout(thread.timer);
    worker.ref();
    jobs.set(id, job);
    const begin: ToThread = { kind: 'begin', job: id, work };
    worker.postMessage(begin);
    this.#changed();
    return job;
  }

  /** Ends all threads; open jobs fail. */
  close(): void {
    for (const thread of this.#threads) this.#end(thread, new Error('the proxy is shutting down'));
  }

  #threadForOneMore(): Thread | undefined {
    let best: Thread | undefined;
    for (const thread of this.#threads)
      if (best === undefined || thread.jobs.size < best.jobs.size) best = thread;
    const isFree = best?.jobs.size === 0;
    return isFree || this.#threads.size >= this.#most ? best : this.#start();
  }

  #start(): Thread {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { execArgv: [] });
    const thread: Thread = { worker, jobs: new Map(), timer: undefined };
    worker.on('message', (message: FromThread) => {
      thread.jobs.get(message.job)?.receive(message);
    });
    worker.on('error', (error) => {
      this.#end(thread, apiError('rowThreadEnded', { cause: error.message }, { cause: error }));
    });
    this.#threads.add(thread);
    return thread;
  }

  #close(thread: Thread, id: number, outcome: 'done' | 'failed'): void {
    if (!thread.jobs.delete(id)) return;
    this.#meters.row_threads_jobs_total.add(1, { outcome });
    if (thread.jobs.size === 0) {
      thread.worker.unref();
      thread.timer = startTimer(() => {
        this.#end(thread, undefined);
      }, idleMs);
      thread.timer.unref();
    }
    this.#changed();
  }

  #end(thread: Thread, error: unknown): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.timer);
    for (const job of thread.jobs.values()) {
      this.#meters.row_threads_jobs_total.add(1, { outcome: 'failed' });
      job.fail(error);
    }
    thread.jobs.clear();
    void endThread(thread.worker);
    this.#changed();
  }

  #changed(): void {
    let jobs = 0;
    for (const thread of this.#threads) jobs += thread.jobs.size;
    this.#meters.row_threads.set(this.#threads.size, {});
    this.#meters.row_threads_jobs.set(jobs, {});
  }
}
