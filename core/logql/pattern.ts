/** One piece of a pattern expression: literal text, or `<name>`; `<_>` has no name. */
export type PatternPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'capture'; readonly name: string | undefined };

/** A pattern expression that Loki refuses; the message is Loki's, without the surrounding text. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const capture = /<([A-Za-z_][A-Za-z0-9_]*)>/g;

/**
 * Parses a pattern expression: for a `pattern` stage (`captures`: at least one named capture, no name twice) or for the line filters `|>`
 * and `!>` (`filter`: only `<_>`).
 * @throws PatternError
 */
export function parsePattern(text: string, use: 'captures' | 'filter'): readonly PatternPart[] {
  if (text === '' && use === 'captures') {
    throw new PatternError(
      'parse error at line 1, col 1: syntax error: unexpected $end, expecting IDENTIFIER or LITERAL',
    );
  }
  const parts = splitPattern(text);
  const names = parts.flatMap((part) =>
    part.kind === 'capture' && part.name !== undefined ? [part.name] : [],
  );
  if (use === 'captures') {
    if (names.length === 0) throw new PatternError('at least one capture is required');
    refuseNeighbours(parts);
    const repeated = names.find((name, index) => names.indexOf(name) < index);
    if (repeated !== undefined)
      throw new PatternError(`duplicate capture name (${repeated}): invalid expression`);
    return parts;
  }
  refuseNeighbours(parts);
  const [named] = names;
  if (named !== undefined) throw new PatternError(`named captures are not allowed: found '<${named}>'`);
  return parts;
}

function splitPattern(text: string): readonly PatternPart[] {
  const parts: PatternPart[] = [];
  let from = 0;
  for (const match of text.matchAll(capture)) {
    if (match.index > from) parts.push({ kind: 'literal', text: text.slice(from, match.index) });
    parts.push({ kind: 'capture', name: match[1] === '_' ? undefined : match[1] });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push({ kind: 'literal', text: text.slice(from) });
  return parts;
}

function refuseNeighbours(parts: readonly PatternPart[]): void {
  parts.forEach((part, index) => {
    const before = parts[index - 1];
    if (part.kind !== 'capture' || before?.kind !== 'capture') return;
    throw new PatternError(
      `found consecutive capture '${source(before.name)}${source(part.name)}': invalid expression`,
    );
  });
}

function source(name: string | undefined): string {
  return `<${name ?? '_'}>`;
}
