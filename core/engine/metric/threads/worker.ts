import os from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { HeldPermit } from '../../../base/admission/waits.js';
import { endIfTold } from '../../../base/end-thread.js';
import { errorOf, faultOf } from '../../../base/errors/fault.js';
import { sendEntry, type LineWork } from '../../../logql/lines/work.js';
import type { LineWorkers } from '../../../logql/lines/line-workers.js';
import { transfersOf } from '../../../logql/metric/index.js';
import type { BreakerPermit } from '../../../base/admission/circuit-breaker.js';
import { BackendHttp, type BackendOptions } from '../../../victoria/upstream/exchange.js';
import { CountingJob } from './counting-job.js';
import type { FromThread, ToThread } from './messages.js';

function send(message: FromThread, transfers: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfers);
}

interface AskedLine {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A job with its messages, which are handled in order, in turn with those of other jobs. */
class OpenJob {
  readonly #id: number;
  readonly #controller = new AbortController();
  readonly #lines = new Map<number, AskedLine>();
  readonly #job: CountingJob;
  #lastWork: LineWork | undefined;
  #lastLine = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(id: number, message: Extract<ToThread, { readonly kind: 'begin' }>) {
    this.#id = id;
    const workers: Pick<LineWorkers, 'run'> = {
      run: (work, entry) => {
        const line = ++this.#lastLine;
        const isTold = this.#lastWork === work;
        this.#lastWork = work;
        send({ kind: 'line', job: id, line, work: isTold ? undefined : work, entry: sendEntry(entry) });
        return new Promise((resolve, reject) => this.#lines.set(line, { resolve, reject }));
      },
    };
    this.#job = new CountingJob(message.work, workers, this.#controller.signal);
  }

  handle(message: ToThread): void {
    if (message.kind === 'line') this.#answerLine(message);
    else this.#last = this.#last.then(() => this.#run(message));
  }

  drop(): void {
    this.#controller.abort(new Error('dropped'));
    for (const { reject } of this.#lines.values()) reject(new Error('dropped'));
    this.#lines.clear();
  }

  #answerLine({ line, result, fault }: Extract<ToThread, { readonly kind: 'line' }>): void {
    const asked = this.#lines.get(line);
    this.#lines.delete(line);
    if (fault === undefined) asked?.resolve(result);
    else asked?.reject(errorOf(fault));
  }

  #isOver(): boolean {
    return this.#controller.signal.aborted;
  }

  async #run(message: ToThread): Promise<void> {
    if (this.#isOver()) return;
    try {
      await this.#handle(message);
    } catch (error) {
      if (this.#isOver()) return;
      this.#controller.abort(error);
      send({ kind: 'fault', job: this.#id, fault: faultOf(error) });
    }
  }

  async #handle(message: ToThread): Promise<void> {
    const job = this.#job;
    switch (message.kind) {
      case 'call':
        job.next();
        await this.#call(message);
        break;
      case 'rows':
        if (message.isNext) job.next();
        await job.add(message.rows);
        break;
      case 'finish': {
        const packed = await job.pack();
        send({ kind: 'counted', job: this.#id, progress: job.progress(), packed }, transfersOf(packed));
        return;
      }
      default:
        return;
    }
    send({ kind: 'answered', job: this.#id, progress: job.progress() });
  }

  async #call({ call, backend }: Extract<ToThread, { readonly kind: 'call' }>): Promise<void> {
    const report = (verdict: keyof BreakerPermit) => (): void =>
      send({ kind: 'head', job: this.#id, verdict });
    const permit = { succeed: report('succeed'), fail: report('fail'), release: report('release') };
    const { signal } = this.#controller;
    const answer = await httpOf(backend).exchange({ ...call, signal }, permit, noPlace);
    await this.#job.readAnswer(answer, () => {
      send({ kind: 'read', job: this.#id, progress: this.#job.progress() });
    });
  }
}

/** The permit of a call is that of its request, which is held on the event loop. */
const noPlace: HeldPermit = { pause: () => () => undefined, leave: () => undefined };

/** Maximum number of cached backends: a hot and a cold one, and those from before a reload. */
const maxBackends = 8;
const backends = new Map<string, BackendHttp>();

function httpOf(options: BackendOptions): BackendHttp {
  const key = JSON.stringify(options);
  let http = backends.get(key);
  if (http !== undefined) return http;
  const [oldest] = backends;
  if (oldest !== undefined && backends.size >= maxBackends) backends.delete(oldest[0]);
  backends.set(key, (http = new BackendHttp(options)));
  return http;
}

/**
 * On an overloaded machine, short requests and the backend come first. On Linux a thread has its own priority; elsewhere this would change
 * the priority of the whole process.
 */
if (process.platform === 'linux') os.setPriority(0, os.constants.priority.PRIORITY_BELOW_NORMAL);

const jobs = new Map<number, OpenJob>();

parentPort?.on('message', endIfTold);
parentPort?.on('message', (message: ToThread) => {
  const { job, kind } = message;
  if (kind === 'begin') {
    try {
      jobs.set(job, new OpenJob(job, message));
    } catch (error) {
      send({ kind: 'fault', job, fault: faultOf(error) });
    }
    return;
  }
  if (kind === 'drop') {
    jobs.get(job)?.drop();
    jobs.delete(job);
    return;
  }
  jobs.get(job)?.handle(message);
});
