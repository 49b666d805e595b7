import { MemoryAccount, type MemoryUse } from '../../../base/memory/account.js';
import type { LineWorkers } from '../../../logql/lines/line-workers.js';
import { EntryCounter, type PackedEngine } from '../../../logql/metric/index.js';
import type { LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { Naming } from '../../../victoria/names/naming.js';
import { RowReader } from '../../../victoria/names/row-reader.js';
import type { BackendAnswer } from '../../../victoria/upstream/exchange.js';
import { rowsOf } from '../../../victoria/upstream/answer-rows.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import { MetricCounts } from '../cost.js';
import { RowIntake } from '../row-intake.js';
import type { CountingWork, Progress } from './messages.js';

/** Number of bytes of answers after which progress is reported. */
const reportBytes = 256 * 1024;

/** Counts the samples of a leaf in a thread, from answers of the backend. */
export class CountingJob {
  readonly #counts = new MetricCounts();
  readonly #memory: MemoryAccount;
  /** Bytes held, by use, as last reported to the event loop. */
  readonly #reported: Map<MemoryUse, number>;
  readonly #pipes: readonly LogsqlPipe[];
  readonly #intake: RowIntake;
  readonly #counter: EntryCounter;
  /** Bytes of answers since the last report of progress. */
  readonly #taken = { bytes: 0 };

  constructor(work: CountingWork, workers: Pick<LineWorkers, 'run'>, signal: AbortSignal) {
    const { leaf, columns, limits, memory, naming, pipes, repeats, streams } = work;
    this.#reported = new Map(memory.held);
    this.#memory = new MemoryAccount(memory.limit);
    for (const [kind, bytes] of memory.held) this.#memory.charge(bytes, kind);
    this.#pipes = pipes;
    this.#intake = new RowIntake({
      reader: new RowReader(new Naming(naming)),
      counts: this.#counts,
      memory: this.#memory,
      repeats,
      streams,
    });
    const request = { leaf, columns, limits: { ...limits, memory: this.#memory }, signal };
    this.#counter = new EntryCounter(request, workers);
  }

  /** Starts a time segment that does not overlap the previous ones. */
  next(): void {
    this.#intake.next();
  }

  /**
   * Reads the rows of an answer.
   * @param report called after every few rows
   * @throws UnknownStreamError, ApiError
   */
  async readAnswer(answer: BackendAnswer, report: () => void): Promise<void> {
    for await (const batch of rowsOf(answer, { pipes: this.#pipes }, this.#taken)) {
      await this.add(batch);
      if (this.#taken.bytes > reportBytes) report();
    }
  }

  async add(rows: readonly BackendRow[]): Promise<void> {
    await this.#counter.add(this.#intake.take(rows));
  }

  pack(): Promise<PackedEngine> {
    this.#intake.next();
    return this.#counter.pack();
  }

  /** Progress since the last call. */
  progress(): Progress {
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
