import type { Steps } from '../../base/pace/steps.js';

/** Shorter bodies are parsed as a whole, which takes a millisecond. */
const wholeLength = 131_072;
const pieceLength = 65_536;

/** A JSON text and the long list cut out of it. */
export interface TakenList {
  /** The text with an empty list instead. */
  readonly envelope: string;
  /** The items of the list, grouped into JSON arrays. */
  readonly pieces: readonly string[];
}

/**
 * Cuts the list after the first match of `start` out of a JSON text, so that it can be parsed in pieces. Undefined for a short text or one
 * of another form, which are left to the parser.
 */
export function* takeList(text: string, start: RegExp): Steps<TakenList | undefined> {
  if (text.length <= wholeLength) return undefined;
  const found = start.exec(text.slice(0, 1024));
  if (found === null) return undefined;
  const from = found.index + found[0].length;
  const pieces: string[] = [];
  let begin = from;
  let depth = 0;
  const signs = /["{}[\]]/g;
  signs.lastIndex = from;
  for (let sign = signs.exec(text); sign !== null; sign = signs.exec(text)) {
    switch (sign[0]) {
      case '"': {
        const end = endOfText(text, sign.index);
        if (end < 0) return undefined;
        signs.lastIndex = end;
        break;
      }
      case '{':
      case '[':
        depth += 1;
        break;
      default:
        depth -= 1;
        if (depth < 0) {
          if (begin < sign.index) pieces.push(`[${text.slice(begin, sign.index)}]`);
          return { envelope: text.slice(0, from) + text.slice(sign.index), pieces };
        }
        if (depth === 0 && signs.lastIndex - begin >= pieceLength && text[signs.lastIndex] === ',') {
          pieces.push(`[${text.slice(begin, signs.lastIndex)}]`);
          begin = signs.lastIndex + 1;
          signs.lastIndex = begin;
          yield;
        }
    }
  }
  return undefined;
}

/** The end of a string literal, after its quote; -1 when it is not closed. */
function endOfText(text: string, quote: number): number {
  for (let at = text.indexOf('"', quote + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return -1;
}
