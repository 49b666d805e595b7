/** A pattern that is only alternatives of plain texts: a line matches when it contains one of them. */
export interface LiteralRegexp {
  readonly texts: readonly string[];
  readonly ignoresCase: boolean;
  /**
   * True when an alternative that matches everything (`foo|`, `x|.*`) was next to the texts. Loki drops it, so only the texts decide; RE2
   * and the backend would match every line.
   */
  readonly droppedAll: boolean;
}

const flagGroup = /^\(\?([a-zA-Z]*)\)/;
const special = /[\\^$.|?*+()[\]{}]/;

/** Parses a pattern as alternatives of plain texts; undefined when it contains anything else. */
export function readLiteralRegexp(pattern: string): LiteralRegexp | undefined {
  const flags = flagGroup.exec(pattern);
  const letters = flags?.[1] ?? '';
  if (!/^[is]*$/.test(letters)) return undefined;
  const alternatives = splitAlternatives(pattern.slice(flags?.[0].length ?? 0));
  if (alternatives === undefined) return undefined;
  const texts = new Set<string>();
  let droppedAll = false;
  for (const alternative of alternatives) {
    const text = plainText(alternative);
    if (text === undefined) return undefined;
    if (text === '') droppedAll = true;
    else texts.add(text);
  }
  return { texts: [...texts], ignoresCase: letters.includes('i'), droppedAll };
}

/** Splits at the bars; undefined when a bar may be inside a group or class. */
function splitAlternatives(pattern: string): readonly string[] | undefined {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '(' || character === '[') return undefined;
    else if (character === '|') {
      parts.push(pattern.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(pattern.slice(from));
  return parts;
}

/** The text of an alternative, without `.*` at its ends; empty when it matches everything, undefined when it is not plain text. */
function plainText(alternative: string): string | undefined {
  let inner = alternative;
  while (inner.startsWith('.*')) inner = inner.slice(2);
  while (inner.endsWith('.*') && !inner.endsWith('\\.*')) inner = inner.slice(0, -2);
  let text = '';
  for (let at = 0; at < inner.length; at += 1) {
    const character = inner[at] ?? '';
    if (character === '\\') {
      at += 1;
      const escaped = inner[at] ?? '';
      if (!/^[!-/:-@[-`{-~]$/.test(escaped)) return undefined;
      text += escaped;
    } else if (special.test(character)) {
      return undefined;
    } else {
      text += character;
    }
  }
  return text;
}
