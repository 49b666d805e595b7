import { rowMaker, type LogRow } from '../log-rows.js';
import type { Labels, WireEntry, WireStats } from '../wire.js';
import { AnswerError, JsonParts, type JsonPath } from './json-parts.js';

/** Reads the answer of a log query while it arrives. Rows keep the order of the answer, which lists one stream after the other. */
export class AnswerReader {
  readonly rows: LogRow[] = [];
  stats: WireStats | undefined;
  warnings: readonly string[] = [];
  readonly #parts = new JsonParts(isEntered, (path, value) => this.#take(path, value));
  /** The position of the stream that is read. */
  #position: string | number | undefined;
  #make: ((entry: WireEntry) => LogRow) | undefined;
  /** Entries that came before the labels of their stream. */
  #early: WireEntry[] = [];

  /** Takes the next piece of the answer; pauses after each entry, so that its caller can let others run. */
  push(piece: string): Generator<void> {
    return this.#parts.push(piece);
  }

  /** Must be called after the last piece: fails if the answer is not complete. */
  end(): void {
    this.#parts.end();
  }

  #take([top, second, position, member]: JsonPath, value: unknown): void {
    // The server's own answer; model/wire.ts has its types.
    if (top === 'warnings') this.warnings = value as readonly string[];
    if (top !== 'data') return;
    if (second === 'stats') this.stats = value as WireStats;
    if (second === 'resultType' && value !== 'streams')
      throw new AnswerError('The proxy answered a query for lines with something else.');
    if (second !== 'result') return;
    if (position !== this.#position) {
      this.#position = position;
      this.#make = undefined;
      this.#early = [];
    }
    if (member === 'stream') {
      this.#make = rowMaker(value as Labels);
      this.rows.push(...this.#early.map(this.#make));
    } else if (member === 'values') {
      const entry = value as WireEntry;
      if (this.#make === undefined) this.#early.push(entry);
      else this.rows.push(this.#make(entry));
    }
  }
}

/** True for the containers between the answer and its entries. */
function isEntered(path: JsonPath): boolean {
  const [top, second, , member] = path;
  if (path.length === 0) return true;
  if (top !== 'data' || path.length > 4) return false;
  return path.length === 1 || (second === 'result' && (path.length < 4 || member === 'values'));
}
