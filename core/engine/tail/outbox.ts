import { asError } from '../../base/guard-events.js';
import type { DroppedEntry, FrameWriter } from './frames.js';
import type { LiveEntry } from '../../wire/answer/types.js';
import { startTimer } from '../../base/time/waits.js';

/** Maximum entries per frame, frames waiting for a slow client, and dropped entries to report (docs/protocol/requests.md#tail). */
const maxFrameEntries = 100;
const maxFrames = 10;
const maxDroppedKept = 1_000;
/** Maximum number of characters of lines in a frame, so that long lines cannot fill the memory. */
const maxFrameLength = 1024 * 1024;

/** The connection of an outbox, and its time limits. */
export interface OutboxSettings {
  readonly frames: FrameWriter;
  /** Resolves once the network has accepted the frame. */
  readonly send: (text: string) => Promise<void>;
  /** Milliseconds for which reading is paused for a client with a full outbox before entries are dropped. */
  readonly graceMs: number;
  /** Timeout for sending a frame in milliseconds; then `onStalled` is called. */
  readonly stallMs: number;
  readonly onStalled: () => void;
}

/** Queue of frames for a client. Entries that do not fit are dropped and reported, so that a slow client uses bounded memory. */
export class Outbox {
  readonly #settings: OutboxSettings;
  readonly #queue: LiveEntry[][] = [];
  /** Characters of the lines in the queue's last frame. */
  #lastLength = 0;
  #dropped: DroppedEntry[] = [];
  #droppedCount = 0;
  #sentCount = 0;
  #isSending = false;
  #isSlow = false;
  #error: unknown;
  #onSpace: (() => void) | undefined;

  constructor(settings: OutboxSettings) {
    this.#settings = settings;
  }

  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** Number of entries that the network has accepted. */
  get sentCount(): number {
    return this.#sentCount;
  }

  /** Queues entries as a single frame, whatever their number; used for the history. */
  sendAtOnce(entries: readonly LiveEntry[]): void {
    if (entries.length === 0) return;
    this.#queue.push([...entries]);
    this.#lastLength = maxFrameLength;
    this.#work();
  }

  /**
   * Queues entries. Waits while the client's outbox is full, which pauses reading; a client that stays behind loses entries until it
   * catches up. Rejects if the client can no longer be reached.
   */
  async offer(entries: readonly LiveEntry[]): Promise<void> {
    for (const entry of entries) {
      if (!this.#hasSpace() && !this.#isSlow) this.#isSlow = !(await this.#space());
      if (this.#error !== undefined) throw asError(this.#error);
      if (this.#hasSpace()) this.#add(entry);
      else this.#drop(entry);
    }
    this.#work();
  }

  #hasSpace(): boolean {
    return this.#queue.length < maxFrames || this.#openFrame() !== undefined;
  }

  /** The frame that further entries are added to. */
  #openFrame(): LiveEntry[] | undefined {
    const last = this.#queue.at(-1);
    return last !== undefined && last.length < maxFrameEntries && this.#lastLength < maxFrameLength
      ? last
      : undefined;
  }

  #add(entry: LiveEntry): void {
    const open = this.#openFrame();
    if (open === undefined) {
      this.#queue.push([entry]);
      this.#lastLength = 0;
    } else {
      open.push(entry);
    }
    this.#lastLength += entry.entry.line.length;
    if (this.#queue.length === maxFrames) this.#work();
  }

  #drop({ labels, entry }: LiveEntry): void {
    this.#droppedCount += 1;
    if (this.#dropped.length < maxDroppedKept) this.#dropped.push({ timestampNs: entry.timestampNs, labels });
  }

  /** Waits for space; false if the grace period ends first. */
  #space(): Promise<boolean> {
    this.#work();
    return new Promise((resolve) => {
      const timer = startTimer(() => {
        this.#onSpace = undefined;
        resolve(false);
      }, this.#settings.graceMs);
      this.#onSpace = () => {
        clearTimeout(timer);
        this.#onSpace = undefined;
        resolve(true);
      };
    });
  }

  #work(): void {
    if (this.#isSending || this.#error !== undefined || this.#queue.length === 0) return;
    this.#isSending = true;
    this.#sendAll().then(
      () => {
        this.#isSending = false;
      },
      (error: unknown) => {
        this.#error = error;
        this.#queue.length = 0;
        this.#onSpace?.();
      },
    );
  }

  async #sendAll(): Promise<void> {
    const { frames, send, stallMs, onStalled } = this.#settings;
    for (let entries = this.#queue.shift(); entries !== undefined; entries = this.#queue.shift()) {
      const dropped = this.#dropped;
      this.#dropped = [];
      const watch = startTimer(onStalled, stallMs);
      try {
        await send(frames.frame(entries, dropped));
      } finally {
        clearTimeout(watch);
      }
      this.#sentCount += entries.length;
      this.#isSlow = false;
      this.#onSpace?.();
    }
  }
}
