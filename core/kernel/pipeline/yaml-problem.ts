import type { SourcePosition } from './types.js';

/** Kinds of errors found while parsing a file, before its meaning is checked. */
export type YamlProblemKind = 'syntax' | 'documents' | 'duplicate-key' | 'feature' | 'reference' | 'include';

export interface YamlProblem {
  readonly kind: YamlProblemKind;
  readonly at: SourcePosition;
  readonly message: string;
  readonly fix?: string;
}

/** Converts offsets of a text to positions. */
export class Locator {
  readonly #file: string;
  readonly #text: string;
  /** The start offset of each line. The parser's own counter misses some after an error. */
  readonly #lineStarts: readonly number[];
  /** The last non-blank character: something missing at the end of a file is reported after it. */
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
