import { quotedPattern } from '../../core/logql/pipeline/filter-test.js';

/** A pattern that matches these texts and no others; both ends are anchored where it is used. */
export function patternOf(texts: readonly string[]): string {
  return texts.map(quotedPattern).join('|');
}

/** Characters with a meaning of their own in a pattern. */
const special = new Set('.+*?()[]{}^$');

/** The texts of a pattern that only lists texts, as `patternOf` writes it; undefined for any other pattern. */
export function literalAlternatives(pattern: string): readonly string[] | undefined {
  const texts: string[] = [];
  let text = '';
  for (let at = 0; at < pattern.length; at += 1) {
    let character = pattern.charAt(at);
    if (special.has(character)) return undefined;
    if (character === '|') {
      texts.push(text);
      text = '';
      continue;
    }
    if (character === '\\') {
      at += 1;
      character = pattern.charAt(at);
      // A letter or a digit after a backslash is a class or a reference.
      if (character === '' || /\w/.test(character)) return undefined;
    }
    text += character;
  }
  return [...texts, text];
}
