import { unquote } from '../../../../core/victoria/logsql/unquote.js';

/** Writes `name=value name="quoted value"`. */
export function packLogfmt(pairs: readonly (readonly [string, string])[]): string {
  return pairs
    .map(([name, value]) => `${name}=${/[\s"=]/.test(value) ? JSON.stringify(value) : value}`)
    .join(' ');
}

/** Parses `name=value name="quoted value"`; a word without `=` is a name without a value. */
export function parseLogfmt(text: string): [string, string][] {
  const fields: [string, string][] = [];
  let at = 0;
  while (at < text.length) {
    const end = nameEnd(text, at);
    const name = text.slice(at, end).trim();
    if (text[end] !== '=') {
      add(fields, name, '');
      at = end + 1;
      continue;
    }
    at = end + 1;
    const quoted = text[at] === '"' || text[at] === '`' ? unquote(text, at) : undefined;
    if (quoted !== undefined) {
      add(fields, name, quoted.text);
      // Parsing ends at anything but a blank after the closing quote.
      if (text[quoted.end] !== ' ') break;
      at = quoted.end + 1;
      continue;
    }
    const blank = text.indexOf(' ', at);
    const valueEnd = blank < 0 ? text.length : blank;
    add(fields, name, text.slice(at, valueEnd));
    at = valueEnd + 1;
  }
  return fields;
}

function nameEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '=' && text[at] !== ' ') at++;
  return at;
}

function add(fields: [string, string][], name: string, value: string): void {
  if (name !== '' || value !== '') fields.push([name, value]);
}
