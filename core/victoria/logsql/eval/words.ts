const letter = /^[\p{L}\p{Nd}_\ufffd]$/u;

/** True if a character is part of words: a letter or digit of any script, or `_`. */
export function isWordCode(code: number): boolean {
  if (code < 128) {
    return (
      (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95
    );
  }
  return letter.test(String.fromCodePoint(code));
}

function codeBefore(text: string, at: number): number {
  const low = text.charCodeAt(at - 1);
  if (low < 0xdc00 || low > 0xdfff || at < 2) return low;
  return text.codePointAt(at - 2) ?? low;
}

/** True if a part of a text, which starts and ends with word characters, is between word boundaries. */
export function standsAlone(text: string, start: number, end: number): boolean {
  if (start > 0 && isWordCode(codeBefore(text, start))) return false;
  return end >= text.length || !isWordCode(text.codePointAt(end) ?? 0);
}

/** Searches many values for one text, whose word boundaries are determined once. */
export class WordFinder {
  readonly #text: string;
  readonly #wordAtStart: boolean;
  readonly #wordAtEnd: boolean;

  /** @param open true if the match may end inside a word */
  constructor(text: string, open = false) {
    this.#text = text;
    this.#wordAtStart = text !== '' && isWordCode(text.codePointAt(0) ?? 0);
    this.#wordAtEnd = !open && text !== '' && isWordCode(codeBefore(text, text.length));
  }

  /** Offset of the first match between word boundaries at or after `from`, or -1; text before `from` is ignored. */
  find(value: string, from = 0): number {
    const text = this.#text;
    let at = value.indexOf(text, from);
    while (at >= 0) {
      if (this.#fits(value, at, from)) return at;
      at = value.indexOf(text, at + 1);
    }
    return -1;
  }

  #fits(value: string, at: number, from: number): boolean {
    if (this.#wordAtStart && at > from && isWordCode(codeBefore(value, at))) return false;
    const end = at + this.#text.length;
    return !(this.#wordAtEnd && end < value.length && isWordCode(value.codePointAt(end) ?? 0));
  }
}
