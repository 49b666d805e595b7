import type { LogRow } from '../../victoria/names/row-reader.js';
import type { TailContext } from './context.js';
import type { LiveEntry, LiveEvent } from '../../wire/answer/live.js';

const pageRows = 10_000;
const nsPerMs = 1_000_000n;

/** Milliseconds as nanoseconds. */
export function msToNs(ms: number): bigint {
  return BigInt(Math.round(ms)) * nsPerMs;
}

/** The rows of a batch that are new and pass the residual stages, as an event; undefined when there are none. */
export async function newEntries(
  rows: readonly LogRow[],
  { recent, lines }: Pick<TailContext, 'recent' | 'lines'>,
): Promise<LiveEvent | undefined> {
  const entries: LiveEntry[] = [];
  for (const row of rows) {
    if (!recent.add(row)) continue;
    const entry = await lines.make(row);
    if (entry !== undefined) entries.push(entry);
  }
  return entries.length === 0 ? undefined : { kind: 'entries', entries };
}

/**
 * Polls for new rows in overlapping windows. The next poll makes up for a failed one, because a window starts where the last successful one
 * ended, minus the time that rows may be late.
 */
export class Windows {
  readonly #context: TailContext;
  /** Everything before this has been read at least once. */
  #doneNs: bigint;

  constructor(context: TailContext, doneNs: bigint) {
    this.#context = context;
    this.#doneNs = doneNs;
  }

  /** Reads from `behindMs` before the last end up to now, minus the delay of the tail. Rejects when the backend fails. */
  async *look(behindMs: number): AsyncGenerator<LiveEvent> {
    const { recent, rules, clock, delayNs, readRows } = this.#context;
    const endNs = clock.nowNs() - delayNs;
    const fromNs = this.#doneNs - msToNs(behindMs);
    const range = { startNs: fromNs > recent.floorNs ? fromNs : recent.floorNs, endNs: endNs + 1n };
    if (range.startNs >= range.endNs) return;
    for await (const rows of readRows(range, 'forward', pageRows)) {
      const event = await newEntries(rows, this.#context);
      if (event !== undefined) yield event;
    }
    if (endNs > this.#doneNs) this.#doneNs = endNs;
    recent.forgetBefore(this.#doneNs - msToNs(rules.lookbackMs));
  }
}
