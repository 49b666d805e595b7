import { writeSync } from 'node:fs';

/** The destination of log lines, such as stdout. */
export interface LogDestination {
  /** Its file descriptor, if any, for the last lines of a process. */
  readonly fd?: number;
  /** True for a terminal. */
  readonly isTTY?: boolean;
  /** Writes a text; `done` is called when it is written, or with the error. */
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** The reason for lost lines: the destination is too slow, or it fails (a full disk, a closed pipe). */
export type LossReason = 'buffer_full' | 'write_failed';

export interface LogWriterSettings {
  /** True to write between turns of the event loop, in few large writes; otherwise every line is written immediately. */
  readonly isBuffered: boolean;
  /** Creates the record that reports lost lines. */
  readonly lostLine: (count: number) => string;
  readonly onLost: (count: number, reason: LossReason) => void;
  readonly maxBytes?: number;
  /**
   * True if other processes write to the same destination: lines are then written in pieces that a pipe accepts atomically, so that lines
   * are not interleaved.
   */
  readonly isShared?: boolean;
}

const maxBufferedBytes = 4 * 1024 * 1024;
const chunkBytes = 64 * 1024;
/** Maximum number of bytes that Linux writes to a pipe atomically (PIPE_BUF). */
const pipeBytes = 4_096;

/**
 * Writes formatted log lines; never throws. One write is in progress at a time; later lines are buffered up to a limit. Lines beyond the
 * limit, and those of a failed write, are counted, and reported in the log once it can be written again.
 */
export class LogWriter {
  readonly #destination: LogDestination;
  readonly #settings: LogWriterSettings;
  #lines: string[] = [];
  #bytes = 0;
  /** Number of lost lines not yet reported in the log. */
  #lost = 0;
  #isWriting = false;
  #isScheduled = false;
  /** True if the last write failed, so that it may have left a partial line. */
  #mayHavePartialLine = false;

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

  /** Writes the buffer, unless a write is in progress, which flushes when it ends. */
  flush(): void {
    if (this.#isWriting || this.#lines.length === 0) return;
    const reported = this.#lost;
    const { text, count } = this.#take();
    this.#isWriting = true;
    this.#destination.write(text, (error) => {
      this.#isWriting = false;
      this.#mayHavePartialLine = error instanceof Error;
      if (this.#mayHavePartialLine) {
        this.#lost += reported;
        this.#lose(count, 'write_failed');
      }
      if (this.#lines.length === 0) return;
      if (this.#settings.isShared === true) this.flush();
      else this.#schedule();
    });
  }

  /** Writes the buffer before returning, as far as possible. */
  flushSync(): void {
    const { fd } = this.#destination;
    if (fd === undefined) {
      this.flush();
      return;
    }
    while (this.#lines.length > 0) writeAll(fd, Buffer.from(this.#take().text));
  }

  /** The next piece to write, and its number of buffered lines. */
  #take(): { readonly text: string; readonly count: number } {
    // The line break ends a partial line left by a full disk.
    const head = this.#mayHavePartialLine ? '\n' : '';
    const tail = this.#lost > 0 ? this.#settings.lostLine(this.#lost) : '';
    this.#lost = 0;
    const count =
      this.#settings.isShared === true ? this.#wholeLines(head.length + tail.length) : this.#lines.length;
    const taken = this.#lines.splice(0, count).join('');
    this.#bytes -= taken.length;
    return { text: head + taken + tail, count };
  }

  /** Number of lines that a pipe accepts atomically, at least one. */
  #wholeLines(others: number): number {
    let bytes = others;
    const over = this.#lines.findIndex((line) => (bytes += Buffer.byteLength(line)) > pipeBytes);
    return over < 0 ? this.#lines.length : Math.max(1, over);
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

/** Number of attempts on a pipe with a slow reader, and the pause between them. */
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
