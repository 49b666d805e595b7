/**
 * LogsQL without its quoted parts: the words and punctuation that the backend parses as its language. Undefined if a quote is never closed.
 * Independent of this repository's printer and parser, which it checks.
 */
export function outsideQuotes(text: string): string | undefined {
  let outside = '';
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (sign !== '"' && sign !== "'" && sign !== '`') {
      outside += sign;
      continue;
    }
    at += 1;
    while (at < text.length && text[at] !== sign) at += sign !== '`' && text[at] === '\\' ? 2 : 1;
    if (at >= text.length) return undefined;
    outside += ' ';
  }
  return outside;
}
