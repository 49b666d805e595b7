/** Tests a text; undefined if only the automaton can decide. */
export type TextTest = (text: string) => boolean | undefined;

const plainPattern = /^(?:[^\\.+*?()[\]{}^$]|\\[!-/:-@[-`{-~])*$/u;
/** Up to this many texts, searching one after the other is fastest. */
const fewTexts = 16;

/** The texts of a pattern that is only an alternation of plain texts, as tools generate for lists of names. */
export function plainTexts(pattern: string): readonly string[] | undefined {
  if (!plainPattern.test(pattern)) return undefined;
  const texts = [''];
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    if (char === '|') {
      texts.push('');
      continue;
    }
    if (char === '\\') at += 1;
    texts.push((texts.pop() ?? '') + pattern.charAt(at));
  }
  return texts;
}

export function equalsOne(texts: readonly string[]): TextTest {
  const known = new Set(texts);
  return (text) => known.has(text);
}

export function containsOne(texts: readonly string[]): TextTest {
  const [only = ''] = texts;
  if (texts.length === 1) return (text) => text.includes(only);
  if (texts.length <= fewTexts) return (text) => texts.some((part) => text.includes(part));
  return containsOneOfMany(texts);
}

interface Branch {
  isEnd: boolean;
  readonly next: Map<number, Branch>;
}

/** Walks a trie of the texts from each position of the text, as far as they match. */
function containsOneOfMany(texts: readonly string[]): TextTest {
  const root: Branch = { isEnd: false, next: new Map() };
  for (const text of texts) {
    let branch = root;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      let next = branch.next.get(unit);
      if (next === undefined) branch.next.set(unit, (next = { isEnd: false, next: new Map() }));
      branch = next;
    }
    branch.isEnd = true;
  }
  return (text) => {
    for (let from = 0; from <= text.length; from += 1) {
      let branch: Branch | undefined = root;
      for (let at = from; branch !== undefined; at += 1) {
        if (branch.isEnd) return true;
        branch = at < text.length ? branch.next.get(text.charCodeAt(at)) : undefined;
      }
    }
    return false;
  };
}
