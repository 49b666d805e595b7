import type { LinearMatch } from './types.js';

const nameCharacter = /^[\p{L}\p{Nd}_]+/u;

/** Expands `$1`, `$name`, `${name}` and `$$` for a match; a group that is missing or did not match becomes empty. */
export function expandTemplate(template: string, match: LinearMatch): string {
  let out = '';
  let rest = template;
  for (;;) {
    const at = rest.indexOf('$');
    if (at < 0) return out + rest;
    out += rest.slice(0, at);
    rest = rest.slice(at + 1);
    if (rest.startsWith('$')) {
      out += '$';
      rest = rest.slice(1);
      continue;
    }
    const reference = readReference(rest);
    if (reference === undefined) {
      out += '$';
      continue;
    }
    rest = rest.slice(reference.length);
    out += groupText(reference.name, match);
  }
}

function readReference(text: string): { name: string; length: number } | undefined {
  const braced = text.startsWith('{');
  const name = nameCharacter.exec(braced ? text.slice(1) : text)?.[0];
  if (name === undefined) return undefined;
  if (!braced) return { name, length: name.length };
  return text[name.length + 1] === '}' ? { name, length: name.length + 2 } : undefined;
}

function groupText(name: string, match: LinearMatch): string {
  // A name of digits is a number unless it has a leading zero (Go treats "01" as a name).
  if (/^(?:0|[1-9][0-9]{0,8})$/.test(name)) return match.groups[Number(name)] ?? '';
  return match.named.get(name) ?? '';
}

/** Finds the leftmost match at or after an offset of one text. */
export type FindFrom = (from: number) => LinearMatch | undefined;

/** Replaces matches from left to right; an empty match adjacent to the previous match is skipped (Go's rule). */
export function replaceAllWith(
  text: string,
  find: FindFrom,
  replace: (match: LinearMatch) => string,
): string {
  let out = '';
  let lastEnd = 0;
  let from = 0;
  while (from <= text.length) {
    const match = find(from);
    if (match === undefined) break;
    out += text.slice(lastEnd, match.index);
    if (match.end > lastEnd || match.index === 0) out += replace(match);
    lastEnd = match.end;
    const width = (text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1;
    from = from + width > match.end ? from + width : match.end;
  }
  return out + text.slice(lastEnd);
}
