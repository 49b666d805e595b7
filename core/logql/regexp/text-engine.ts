import { textsOf } from './analysis.js';
import { anyChar, notLineFeed, type CharSet } from './char-set.js';
import { containsOne, equalsOne, type TextTest } from './plain-texts.js';
import type { RegExpNode } from './tree.js';

/** Turns a pattern of texts with `.*` between them (`a|b`, `foo.*bar`, anchored `.*foo`) into text searches; undefined for all others. */
export function textTest(node: RegExpNode, anchored: boolean): TextTest | undefined {
  const texts = textsOf(node);
  if (texts !== undefined) return anchored ? equalsOne(texts) : containsOne(texts);
  return gapTest(node, anchored);
}

/** Texts with gaps of any length between them. */
function gapTest(node: RegExpNode, anchored: boolean): TextTest | undefined {
  if (node.kind !== 'concat') return undefined;
  const parts = [''];
  let gaps: CharSet | undefined;
  for (const item of node.items) {
    if (item.kind === 'repeat') {
      if (item.min !== 0 || item.max !== Infinity || item.item.kind !== 'chars') return undefined;
      gaps ??= item.item.set;
      if (item.item.set !== gaps || (gaps !== anyChar && gaps !== notLineFeed)) return undefined;
      parts.push('');
      continue;
    }
    const [text, ...others] = textsOf(item) ?? [];
    if (text === undefined || others.length > 0) return undefined;
    parts.push((parts.pop() ?? '') + text);
  }
  return (text) => {
    // Then a gap must not contain a line feed; texts with one are left to the automaton.
    if (gaps === notLineFeed && text.includes('\n')) return undefined;
    return anchored ? matchesParts(text, parts) : holdsParts(text, parts);
  };
}

/** The leftmost match of each part leaves the most room for the rest. */
function holdsParts(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

function matchesParts(text: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  return holdsParts(text.slice(first.length, text.length - last.length), parts.slice(1, -1));
}
