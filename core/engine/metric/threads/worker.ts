import os from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { HeldPermit } from '../../../base/admission/fair-queue.js';
import { endIfTold } from '../../../base/end-thread.js';
import { errorOf, faultOf } from '../../../base/errors/fault.js';
import { MemoryAccount, type MemoryUse } from '../../../base/memory/account.js';
import { sendEntry, type LineWork } from '../../../logql/lines/work.js';
import type { LineWorkers } from '../../../logql/lines/line-workers.js';
import { EntryCounter, transfersOf } from '../../../logql/metric/index.js';
import type { BreakerPermit } from '../../../base/admission/circuit-breaker.js';
import type { LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { Naming } from '../../../victoria/names/naming.js';
import { RowReader } from '../../../victoria/names/row-reader.js';
import { rowsOf } from '../../../victoria/upstream/answer-rows.js';
import { BackendHttp, type BackendOptions } from '../../../victoria/upstream/exchange.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import { MetricCounts } from '../cost.js';
import { RowIntake } from '../row-intake.js';
import type { FromThread, Progress, ToThread } from './messages.js';

function send(message: FromThread, transfers: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfers);
}

interface AskedLine {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Number of bytes of answers after which progress is reported. */
const reportBytes = 256 * 1024;

/** Counts the samples of a leaf. Its messages are handled in order, in turn with those of other jobs. */
class OpenJob {
  readonly #id: number;
  readonly #controller = new AbortController();
  readonly #lines = new Map<number, AskedLine>();
  readonly #counts = new MetricCounts();
  readonly #memory: MemoryAccount;
  /** Bytes held, by use, as last reported to the event loop. */
  readonly #reported: Map<MemoryUse, number>;
  readonly #pipes: readonly LogsqlPipe[];
  readonly #intake: RowIntake;
  readonly #counter: EntryCounter;
  /** Bytes of answers since the last report of progress. */
  readonly #taken = { bytes: 0 };
  #lastWork: LineWork | undefined;
  #lastLine = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(id: number, { work: asked }: Extract<ToThread, { readonly kind: 'begin' }>) {
    const { leaf, columns, limits, memory, naming, pipes, repeats, streams } = asked;
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
    this.#reported = new Map(memory.held);
    this.#memory = new MemoryAccount(memory.limit);
    for (const [kind, bytes] of memory.held) this.#memory.charge(bytes, kind);
    this.#pipes = pipes;
    const reader = new RowReader(new Naming(naming));
    this.#intake = new RowIntake({ reader, counts: this.#counts, memory: this.#memory, repeats, streams });
    const { signal } = this.#controller;
    const request = { leaf, columns, limits: { ...limits, memory: this.#memory }, signal };
    this.#counter = new EntryCounter(request, workers);
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
    switch (message.kind) {
      case 'call':
        this.#intake.next();
        await this.#call(message);
        break;
      case 'rows':
        if (message.isNext) this.#intake.next();
        await this.#add(message.rows);
        break;
      case 'finish': {
        this.#intake.next();
        const packed = await this.#counter.pack();
        send({ kind: 'counted', job: this.#id, progress: this.#progress(), packed }, transfersOf(packed));
        return;
      }
      default:
        return;
    }
    send({ kind: 'answered', job: this.#id, progress: this.#progress() });
  }

  async #call({ call, backend }: Extract<ToThread, { readonly kind: 'call' }>): Promise<void> {
    const report = (verdict: keyof BreakerPermit) => (): void =>
      send({ kind: 'head', job: this.#id, verdict });
    const permit = { succeed: report('succeed'), fail: report('fail'), release: report('release') };
    const { signal } = this.#controller;
    const answer = await httpOf(backend).exchange({ ...call, signal }, permit, noPlace);
    for await (const batch of rowsOf(answer, { pipes: this.#pipes }, this.#taken)) {
      await this.#add(batch);
      if (this.#taken.bytes > reportBytes) send({ kind: 'read', job: this.#id, progress: this.#progress() });
    }
  }

  /** @throws UnknownStreamError, ApiError */
  async #add(rows: readonly BackendRow[]): Promise<void> {
    await this.#counter.add(this.#intake.take(rows));
  }

  /** Progress since the last call. */
  #progress(): Progress {
    const memory: (readonly [MemoryUse, number])[] = [];
    for (const [kind, bytes] of this.#memory.held) {
      const change = bytes - (this.#reported.get(kind) ?? 0);
      if (change === 0) continue;
      memory.push([kind, change]);
      this.#reported.set(kind, bytes);
    }
    const { bytes } = this.#taken;
    this.#taken.bytes = 0;
    return { read: this.#counts.takeRead(), bytes, memory };
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
