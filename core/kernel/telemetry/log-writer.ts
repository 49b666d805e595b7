import { writeSync } from 'node:fs';

/** Where log lines go: a stream such as stdout. */
export interface LogDestination {
  /** Its file descriptor, if it has one, for the last words of a process. */
  readonly fd?: number;
  /** Calls back when the text is written, or with what kept it from being written. */
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** Why lines did not reach their destination: it is too slow, or it refuses them (a full disk, a closed pipe). */
export type LossReason = 'buffer_full' | 'write_failed';

export interface LogWriterSettings {
  /** Writes between two turns of the event loop, in few large writes; otherwise every line at once. */
  readonly isBuffered: boolean;
  /** The record that stands for lines that were lost. */
  readonly lostLine: (count: number) => string;
  readonly onLost: (count: number, reason: LossReason) => void;
  readonly maxBytes?: number;
}

const maxBufferedBytes = 4 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/**
 * Takes finished log lines and never fails: one write is under way at a time, and what comes meanwhile is held up to a bound. Lines
 * beyond it, and those of a write that failed, are counted, and reported in the log as soon as it can be written again.
 */
export class LogWriter {
  readonly #destination: LogDestination;
  readonly #settings: LogWriterSettings;
  #lines: string[] = [];
  #bytes = 0;
  /** Lines lost that the log does not tell of yet. */
  #lost = 0;
  #isWriting = false;
  #isScheduled = false;
  /** The last write failed: it may have left the beginning of a line. */
  #isTorn = false;

  constructor(destination: LogDestination, settings: LogWriterSettings) {
    this.#destination = destination;
    this.#settings = settings;
  }

  write(line: string): void {
    const { isBuffered, maxBytes = maxBufferedBytes } = this.#settings;
    if (this.#bytes + line.length > maxBytes) {
      this.#lose(1, 'buffer_full');
      return;
    }
    this.#lines.push(line);
    this.#bytes += line.length;
    if (isBuffered && this.#bytes < chunkBytes) this.#schedule();
    else this.flush();
  }

  /** Hands on what is buffered, unless a write is under way, which does so at its end. */
  flush(): void {
    if (this.#isWriting || this.#lines.length === 0) return;
    const [count, told] = [this.#lines.length, this.#lost];
    const text = this.#take();
    this.#isWriting = true;
    this.#destination.write(text, (error) => {
      this.#isWriting = false;
      this.#isTorn = error instanceof Error;
      if (this.#isTorn) {
        this.#lost += told;
        this.#lose(count, 'write_failed');
      }
      if (this.#lines.length > 0) this.#schedule();
    });
  }

  /** Writes what is buffered before it returns, as well as that can be done. */
  flushSync(): void {
    const { fd } = this.#destination;
    if (fd === undefined) {
      this.flush();
      return;
    }
    if (this.#lines.length > 0) writeAll(fd, Buffer.from(this.#take()));
  }

  #take(): string {
    // A line of its own ends what a full disk has cut.
    const head = this.#isTorn ? '\n' : '';
    const tail = this.#lost > 0 ? this.#settings.lostLine(this.#lost) : '';
    const text = head + this.#lines.join('') + tail;
    this.#lines = [];
    this.#bytes = 0;
    this.#lost = 0;
    return text;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isWriting) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  #lose(count: number, reason: LossReason): void {
    this.#lost += count;
    this.#settings.onLost(count, reason);
  }
}

/** Times that a pipe whose reader is slow is tried again, and the pause between. */
const tries = 20;
const pauseMs = 10;

function writeAll(fd: number, bytes: Buffer): void {
  let written = 0;
  for (let attempt = 0; attempt < tries && written < bytes.length; attempt += 1) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
      if (!isFull) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}
