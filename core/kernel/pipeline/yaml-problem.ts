import type { SourcePosition } from './types.js';

/** What can be wrong with a file before its meaning is looked at. */
export type YamlProblemKind = 'syntax' | 'documents' | 'duplicate-key' | 'feature' | 'reference';

export interface YamlProblem {
  readonly kind: YamlProblemKind;
  readonly at: SourcePosition;
  readonly message: string;
  readonly fix?: string;
}

/** Turns offsets of a text into positions. */
export class Locator {
  readonly #file: string;
  readonly #text: string;
  /** Offsets at which lines begin. The parser's own counter misses some after an error. */
  readonly #lineStarts: readonly number[];
  /** The last character that says something: what is missing at the end of a file is missing behind it. */
  readonly #last: number;

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
    this.#lineStarts = [0, ...[...text.matchAll(/\n/g)].map((newline) => newline.index + 1)];
    this.#last = Math.max(0, text.trimEnd().length - 1);
  }

  /** The position of [from, end), cut at the end of the line, at least one character long. */
  at(from: number, end: number): SourcePosition {
    const start = Math.min(from, this.#last);
    const next = this.#lineStarts.findIndex((lineStart) => lineStart > start);
    const line = next === -1 ? this.#lineStarts.length : next;
    const newline = this.#text.indexOf('\n', start);
    const lineEnd = newline === -1 ? this.#text.length : newline;
    const stop = Math.min(end, lineEnd);
    return {
      file: this.#file,
      line,
      column: start - (this.#lineStarts[line - 1] ?? 0) + 1,
      length: Math.max(stop - start, 1),
    };
  }
}
