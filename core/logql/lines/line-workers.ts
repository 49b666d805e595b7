import { Worker } from 'node:worker_threads';
import { apiError } from '../../base/errors/table.js';
import type { PipelineEntry } from '../pipeline/types.js';
import { errorOf } from '../../base/errors/fault.js';
import { type WorkerResult, type WorkerRequest, sendEntry, type LineWork } from './work.js';
import { startTimer } from '../../base/time/waits.js';

export interface LineWorkerOptions {
  /** Maximum number of threads; they start on demand and end when idle. */
  readonly threads: number;
  /** Timeout of one line in milliseconds. */
  readonly timeoutMs: number;
  /** Notified of the number of threads, the number of waiting lines and the outcome of each line. */
  readonly observer?: LineWorkerObserver;
}

export interface LineWorkerObserver {
  changed(threads: number, waiting: number): void;
  ended(outcome: 'done' | 'aborted' | 'timeout' | 'failed' | 'refused'): void;
}

interface Job {
  readonly work: LineWork;
  readonly entry: PipelineEntry;
  readonly signal: AbortSignal;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
}

interface Thread {
  readonly worker: Worker;
  readonly known: Set<number>;
  job: Job | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** A request waits for one line at a time, so the queue is fair to requests. */
const maxWaiting = 256;
const idleMs = 5_000;
/** Number of queries whose stages a thread keeps compiled. */
const maxKnown = 16;
const memoryMb = 256;

/** Threads that evaluate lines which would block the event loop for too long; one line per thread at a time, in order of arrival. */
export class LineWorkers {
  readonly #options: LineWorkerOptions;
  readonly #threads = new Set<Thread>();
  readonly #waiting = new Set<Job>();
  readonly #keys = new WeakMap<LineWork, number>();
  #lastKey = 0;

  constructor(options: LineWorkerOptions) {
    this.#options = options;
  }

  /**
   * Evaluates an entry in a thread. If the signal aborts, the thread is terminated, because nothing else can stop it.
   * @throws ApiError `lineTooCostly`, `tooManyCostlyLines`; the errors of the stages
   */
  run(work: LineWork, entry: PipelineEntry, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    if (this.#waiting.size >= maxWaiting) {
      this.#options.observer?.ended('refused');
      throw apiError('tooManyCostlyLines', { limit: maxWaiting });
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#abort(job);
      };
      const job: Job = { work, entry, signal, resolve, reject, onAbort };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(job);
      this.#next();
    });
  }

  /** Terminates all threads; lines in progress fail. */
  close(): void {
    for (const job of this.#waiting) this.#abort(job);
    for (const thread of this.#threads) this.#end(thread, new Error('the proxy is shutting down'), 'aborted');
  }

  #next(): void {
    for (const job of this.#waiting) {
      const thread = this.#idleThread() ?? this.#startThread();
      if (thread === undefined) break;
      this.#waiting.delete(job);
      this.#give(thread, job);
    }
    this.#options.observer?.changed(this.#threads.size, this.#waiting.size);
  }

  #idleThread(): Thread | undefined {
    for (const thread of this.#threads) if (thread.job === undefined) return thread;
    return undefined;
  }

  #startThread(): Thread | undefined {
    if (this.#threads.size >= this.#options.threads) return undefined;
    const worker = new Worker(new URL('./worker.js', import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const thread: Thread = { worker, known: new Set(), job: undefined, timer: undefined };
    worker.on('message', (answered: WorkerResult) => {
      this.#answered(thread, answered);
    });
    worker.on('error', (error) => {
      this.#end(thread, asLineError(error), 'failed');
    });
    this.#threads.add(thread);
    return thread;
  }

  #give(thread: Thread, job: Job): void {
    const { work, entry } = job;
    const key = this.#keyOf(work);
    const isKnown = thread.known.has(key);
    const forgets = !isKnown && thread.known.size >= maxKnown;
    if (forgets) thread.known.clear();
    thread.known.add(key);
    thread.job = job;
    clearTimeout(thread.timer);
    const { timeoutMs } = this.#options;
    thread.timer = startTimer(() => {
      this.#end(thread, apiError('lineTooCostly', { seconds: timeoutMs / 1000 }), 'timeout');
    }, timeoutMs);
    thread.worker.ref();
    const asked: WorkerRequest = { key, work: isKnown ? undefined : work, forgets, entry: sendEntry(entry) };
    thread.worker.postMessage(asked);
  }

  #answered(thread: Thread, answered: WorkerResult): void {
    const { job } = thread;
    if (job === undefined) return;
    this.#release(thread, job);
    this.#options.observer?.ended('fault' in answered ? 'failed' : 'done');
    if ('fault' in answered) job.reject(errorOf(answered.fault));
    else job.resolve(answered.result);
    thread.worker.unref();
    thread.timer = startTimer(() => {
      this.#end(thread, undefined, 'done');
    }, idleMs);
    thread.timer.unref();
    this.#next();
  }

  #abort(job: Job): void {
    if (this.#waiting.delete(job)) {
      this.#options.observer?.ended('aborted');
      job.signal.removeEventListener('abort', job.onAbort);
      job.reject(reasonOf(job.signal));
      this.#next();
      return;
    }
    for (const thread of this.#threads)
      if (thread.job === job) this.#end(thread, reasonOf(job.signal), 'aborted');
  }

  /** Terminates a thread and fails the line it is evaluating. */
  #end(thread: Thread, error: unknown, outcome: 'done' | 'aborted' | 'timeout' | 'failed'): void {
    if (!this.#threads.delete(thread)) return;
    const { job } = thread;
    if (job !== undefined) {
      this.#release(thread, job);
      this.#options.observer?.ended(outcome);
      job.reject(error);
    }
    clearTimeout(thread.timer);
    void thread.worker.terminate();
    this.#next();
  }

  #release(thread: Thread, job: Job): void {
    clearTimeout(thread.timer);
    job.signal.removeEventListener('abort', job.onAbort);
    thread.job = undefined;
  }

  #keyOf(work: LineWork): number {
    let key = this.#keys.get(work);
    if (key === undefined) this.#keys.set(work, (key = ++this.#lastKey));
    return key;
  }
}

function reasonOf(signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : new Error('the proxy is shutting down');
}

/** A thread that runs out of memory ends by itself. */
function asLineError(error: unknown): unknown {
  const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory ? apiError('lineTooLarge', { megabytes: memoryMb }) : error;
}
