import type { Label } from '../../base/labels/label-set.js';

/** A `_stream` text that is not `{name="value",...}`: the backend violated its contract. */
export class StreamTextError extends Error {
  override readonly name = 'StreamTextError';
}

const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);
const hexLengths: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/**
 * Parses the `_stream` field: names bare or quoted, values quoted as in Go.
 * @throws StreamTextError
 */
export function parseStreamText(text: string): readonly Label[] {
  if (!text.startsWith('{') || !text.endsWith('}')) throw malformed(text, 0);
  const labels: Label[] = [];
  const last = text.length - 1;
  let at = 1;
  while (at < last) {
    let name: string;
    if (text[at] === '"') {
      const quoted = readQuoted(text, at);
      name = quoted.value;
      at = quoted.end;
    } else {
      const equals = text.indexOf('=', at);
      if (equals < 0) throw malformed(text, at);
      name = text.slice(at, equals);
      at = equals;
    }
    if (text[at] !== '=' || text[at + 1] !== '"') throw malformed(text, at);
    const value = readQuoted(text, at + 1);
    labels.push([name, value.value]);
    at = value.end;
    if (at < last) {
      if (text[at] !== ',') throw malformed(text, at);
      at += 1;
    }
  }
  if (at !== last) throw malformed(text, at);
  return labels;
}

/** Parses a double-quoted Go string that starts at `start`; `end` is the offset after the closing quote. */
function readQuoted(text: string, start: number): { readonly value: string; readonly end: number } {
  let value = '';
  let from = start + 1;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') return { value: value + text.slice(from, at), end: at + 1 };
    if (character !== '\\') continue;
    value += text.slice(from, at);
    const escape = readEscape(text, at + 1);
    value += escape.value;
    from = escape.end;
    at = escape.end - 1;
  }
  throw malformed(text, start);
}

function readEscape(text: string, at: number): { readonly value: string; readonly end: number } {
  const letter = text[at] ?? '';
  const simple = simpleEscapes.get(letter);
  if (simple !== undefined) return { value: simple, end: at + 1 };
  const hexLength = hexLengths.get(letter);
  if (hexLength === undefined) return { value: letter, end: at + 1 };
  const hex = text.slice(at + 1, at + 1 + hexLength);
  const code = Number.parseInt(hex, 16);
  if (hex.length !== hexLength || Number.isNaN(code) || code > 0x10ffff) throw malformed(text, at);
  // \xNN is a byte that is not valid UTF-8; in an answer it becomes the replacement character anyway.
  return {
    value: letter === 'x' && code > 0x7f ? '\ufffd' : String.fromCodePoint(code),
    end: at + 1 + hexLength,
  };
}

function malformed(text: string, at: number): StreamTextError {
  return new StreamTextError(`malformed _stream at offset ${at}: ${text.slice(0, 200)}`);
}
