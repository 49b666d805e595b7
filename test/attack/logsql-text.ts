/**
 * LogsQL without what stands between quotes: the words and signs that the backend takes as its language. Undefined for a quote that is
 * never closed. Written apart from the printer and the parser of this repository, which it is to judge.
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
