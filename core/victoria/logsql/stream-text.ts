import type { Label } from '../../base/label-set.js';
import { unquote } from './unquote.js';

interface StreamText {
  readonly labels: readonly Label[];
  /** The offset of the first error; undefined when there is none. */
  readonly errorAt: number | undefined;
}

/** Reads a `_stream` field, `{a="b","c d"="e"}`, up to the first error: names bare or quoted, values quoted as in Go. */
export function readStreamText(text: string): StreamText {
  const labels: Label[] = [];
  if (!text.startsWith('{')) return { labels, errorAt: 0 };
  if (text === '{}') return { labels, errorAt: undefined };
  for (let at = 1; ; at += 1) {
    const name = text[at] === '"' ? unquote(text, at) : bareName(text, at);
    if (name === undefined || text[name.end] !== '=' || text[name.end + 1] !== '"')
      return { labels, errorAt: at };
    const value = unquote(text, name.end + 1);
    if (value === undefined) return { labels, errorAt: name.end + 1 };
    labels.push([name.text, value.text]);
    at = value.end;
    if (text[at] === '}' && at === text.length - 1) return { labels, errorAt: undefined };
    if (text[at] !== ',') return { labels, errorAt: at };
  }
}

function bareName(text: string, at: number): { readonly text: string; readonly end: number } | undefined {
  const end = text.indexOf('=', at);
  return end < 0 ? undefined : { text: text.slice(at, end), end };
}

/** A `_stream` text that is not `{name="value",...}`: the backend violated its contract. */
export class StreamTextError extends Error {
  override readonly name = 'StreamTextError';
}

/**
 * Parses the `_stream` field of a row of the backend.
 * @throws StreamTextError
 */
export function parseStreamText(text: string): readonly Label[] {
  const { labels, errorAt } = readStreamText(text);
  if (errorAt === undefined) return labels;
  throw new StreamTextError(`malformed _stream at offset ${errorAt}: ${text.slice(0, 200)}`);
}
