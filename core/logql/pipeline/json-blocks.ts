import { readUnit, shortEscapes } from './json-text.js';

const quote = 0x22;
const backslash = 0x5c;

/** The closing quote of the string that starts at a quote; -1 when there is none before the end. */
export function endOfString(text: string, start: number, end: number): number {
  // Most strings are short: a search for the quote would take longer.
  for (let at = start + 1; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at += 1;
  }
  return -1;
}

/** The end of a block of brackets, with strings in it passed over; -1 when it is not closed. Other brackets are not looked at. */
export function endOfBlock(text: string, start: number, end: number, open: number, close: number): number {
  let depth = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at, end);
      if (at < 0) return -1;
    } else if (code === open) {
      depth += 1;
    } else if (code === close) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** Whether a part of the text has a backslash. */
export function hasEscape(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (text.charCodeAt(at) === backslash) return true;
  return false;
}

/**
 * A key without its escapes, as Loki's distributor and pattern ingester read it; undefined for an invalid escape. Unlike its `json` stage
 * (`unescapeJson`), they take half of a surrogate pair.
 */
export function unescapedKey(text: string): string | undefined {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', from)) {
    const escape = text.charAt(at + 1);
    parts.push(text.slice(from, at));
    const unit = escape === 'u' ? readUnit(text, at) : undefined;
    const meant = unit === undefined ? shortEscapes.get(escape) : String.fromCharCode(unit);
    if (meant === undefined) return undefined;
    parts.push(meant);
    from = at + (unit === undefined ? 2 : 6);
  }
  return parts.join('') + text.slice(from);
}
