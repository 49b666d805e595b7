import { asError } from '../../../base/guard-events.js';
import type { MemoryAccount } from '../../../base/memory/account.js';
import { errorOf, faultOf, type ErrorClass } from '../../../base/errors/fault.js';
import type { LineWorkers } from '../../../logql/lines/line-workers.js';
import { receiveEntry, type LineWork } from '../../../logql/lines/work.js';
import type { PackedEngine } from '../../../logql/metric/index.js';
import type { AdmittedCall } from '../../../victoria/upstream/client.js';
import { BackendFailure } from '../../../victoria/upstream/failures.js';
import type { BackendRow, RowsElsewhere } from '../../../victoria/upstream/types.js';
import type { MetricCounts } from '../cost.js';
import { UnknownStreamError } from '../row-intake.js';
import type { FromThread, Progress, ToThread } from './messages.js';

/** The owner of the rows that a thread counts. */
export interface JobOwner {
  readonly signal: AbortSignal;
  /** Charged for the memory that the thread holds. */
  readonly memory: MemoryAccount;
  /** Receives the number of rows that the thread has read. */
  readonly counts: Pick<MetricCounts, 'read'>;
}

type Reply = Exclude<FromThread, { readonly kind: 'fault' | 'line' }>;

/** The side of a job on the event loop: tells a thread what to read, and receives its counts. */
export class RowJob {
  readonly #owner: JobOwner;
  readonly #lines: Pick<LineWorkers, 'run'>;
  readonly #post: (message: Unaddressed) => void;
  readonly #closed: (outcome: 'done' | 'failed') => void;
  readonly #replies: Reply[] = [];
  #waiting: { resolve(reply: Reply): void; reject(error: unknown): void } | undefined;
  #failure: Error | undefined;
  #lineWork: LineWork | undefined;

  constructor(
    owner: JobOwner,
    lines: Pick<LineWorkers, 'run'>,
    post: (message: Unaddressed) => void,
    closed: (outcome: 'done' | 'failed') => void,
  ) {
    this.#owner = owner;
    this.#lines = lines;
    this.#post = post;
    this.#closed = closed;
    owner.signal.addEventListener('abort', this.#abort);
  }

  /** Lets the thread make a call and read its rows (see RowsReader). */
  async *read({ call, backend, breakerPermit: permit, signal }: AdmittedCall): AsyncGenerator<RowsElsewhere> {
    const abort = (): void => {
      this.fail(signal.reason);
    };
    signal.addEventListener('abort', abort);
    try {
      this.#post({ kind: 'call', call, backend });
      for (;;) {
        const reply = await this.#reply();
        if (reply.kind === 'head') permit[reply.verdict]();
        yield rowsOf(reply);
        if (reply.kind === 'answered') return;
      }
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** As `read`, for rows that are already here. */
  async *readRows(batches: AsyncIterable<readonly BackendRow[]>): AsyncGenerator<RowsElsewhere> {
    let isNext = true;
    for await (const rows of batches) {
      this.#post({ kind: 'rows', rows, isNext });
      isNext = false;
      yield rowsOf(await this.#reply());
    }
  }

  /** Ends the job and returns the counts of all answers. */
  async finish(): Promise<PackedEngine> {
    this.#post({ kind: 'finish' });
    const reply = await this.#reply();
    if (reply.kind !== 'counted') throw new Error('a thread answered out of turn');
    return reply.packed;
  }

  /** Releases the job; must be called once, whatever the outcome. */
  close(): void {
    this.#owner.signal.removeEventListener('abort', this.#abort);
    this.#post({ kind: 'drop' });
    this.#closed(this.#failure === undefined ? 'done' : 'failed');
  }

  receive(message: FromThread): void {
    if (message.kind === 'fault') this.fail(errorOf(message.fault, classes));
    else if (message.kind === 'line') void this.#runLine(message);
    else if (this.#waiting === undefined) this.#replies.push(message);
    else {
      this.#waiting.resolve(message);
      this.#waiting = undefined;
    }
  }

  /** Fails everything that waits for the thread, now or later. */
  fail(error: unknown): void {
    this.#failure = asError(error);
    this.#waiting?.reject(this.#failure);
    this.#waiting = undefined;
  }

  readonly #abort = (): void => {
    this.fail(this.#owner.signal.reason);
  };

  async #reply(): Promise<Reply> {
    const reply = await this.#received();
    if (reply.kind !== 'head') this.#account(reply.progress);
    return reply;
  }

  #received(): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const reply = this.#replies.shift();
      if (reply !== undefined) resolve(reply);
      else if (this.#failure !== undefined) reject(this.#failure);
      else this.#waiting = { resolve, reject };
    });
  }

  #account({ read, memory }: Progress): void {
    const { counts, memory: account } = this.#owner;
    counts.read(read);
    for (const [kind, bytes] of memory) {
      if (bytes > 0) account.charge(bytes, kind);
      else account.release(-bytes, kind);
    }
  }

  async #runLine({ line, work, entry }: Extract<FromThread, { readonly kind: 'line' }>): Promise<void> {
    this.#lineWork = work ?? this.#lineWork;
    try {
      if (this.#lineWork === undefined) throw new Error('a thread asked for a line without telling its work');
      const result = await this.#lines.run(this.#lineWork, receiveEntry(entry), this.#owner.signal);
      this.#post({ kind: 'line', line, result });
    } catch (error) {
      this.#post({ kind: 'line', line, fault: faultOf(error) });
    }
  }
}

/** A message without its job number. */
export type Unaddressed = ToThread extends infer Message
  ? Message extends ToThread
    ? Omit<Message, 'job'>
    : never
  : never;

function rowsOf(reply: Reply): RowsElsewhere {
  if (reply.kind === 'head') return { length: 0, bytes: 0 };
  const { read, bytes } = reply.progress;
  return { length: read.rows, bytes };
}

/** Errors whose class determines more than the message sent to a client. */
const classes = new Map<string, ErrorClass>([
  ['UnknownStreamError', UnknownStreamError],
  ['BackendFailure', BackendFailure],
]);
