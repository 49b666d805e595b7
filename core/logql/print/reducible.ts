import { notLineFeed, onlyChar } from '../regexp/char-set.js';
import { parseRegExp } from '../regexp/parse.js';
import type { RegExpNode } from '../regexp/tree.js';

/** A pattern as Go's parser simplifies it: letters joined, common prefixes of alternatives factored out. */
type GoNode =
  | { readonly kind: 'literal'; readonly text: string; readonly folded: boolean }
  | { readonly kind: 'concat' | 'alternate'; readonly items: readonly GoNode[] }
  | { readonly kind: 'capture'; readonly item: GoNode }
  | { readonly kind: 'gap' | 'empty' | 'class' | 'other' };

/**
 * Whether Loki replaces the regexp of a label filter by plain text searches; only one that it cannot replace prints itself in backquotes.
 * It replaces texts, alternatives of texts, and either with `.*` next to them.
 */
export function isReducibleRegExp(pattern: string): boolean {
  // `.+` is only replaced when it is the whole pattern.
  if (pattern === '.+') return true;
  const tree = parseRegExp(pattern, false);
  return tree !== undefined && isReducible(goNode(tree));
}

function isReducible(node: GoNode): boolean {
  switch (node.kind) {
    case 'literal':
    case 'gap':
    case 'empty':
      return true;
    case 'capture':
      return isReducible(node.item);
    case 'alternate':
      return node.items.map(withoutCapture).every(isReducible);
    case 'concat':
      return isReducibleConcat(node.items, false, false);
    case 'class':
    case 'other':
      return false;
  }
}

/** At most three parts, at most one of them a text, and alternatives only after a text. */
function isReducibleConcat(items: readonly GoNode[], hasText: boolean, isFolded: boolean): boolean {
  const parts = items.map(withoutCapture).filter(({ kind }) => kind !== 'empty');
  if (parts.length > 3) return false;
  let base = hasText;
  let folded = isFolded;
  let texts = 0;
  for (const part of parts) {
    if (part.kind === 'literal') {
      if (++texts > 1) return false;
      base = true;
      folded = part.folded;
    } else if (part.kind === 'alternate' && base) {
      if (!part.items.every((item) => continuesText(item, folded))) return false;
    } else if (part.kind !== 'gap') {
      return false;
    }
  }
  return base;
}

function continuesText(node: GoNode, folded: boolean): boolean {
  switch (node.kind) {
    case 'literal':
      return folded || !node.folded;
    case 'gap':
    case 'empty':
      return true;
    case 'concat':
      return isReducibleConcat(node.items, true, folded);
    case 'alternate':
    case 'capture':
    case 'class':
    case 'other':
      return false;
  }
}

function withoutCapture(node: GoNode): GoNode {
  return node.kind === 'capture' ? node.item : node;
}

function goNode(node: RegExpNode): GoNode {
  switch (node.kind) {
    case 'chars': {
      const code = node.isClass ? undefined : node.folded ? node.set[0]?.[0] : onlyChar(node.set);
      if (code === undefined) return { kind: 'class' };
      return {
        kind: 'literal',
        text: String.fromCodePoint(code),
        folded: node.folded && node.set.length > 1,
      };
    }
    case 'assert':
      return { kind: 'other' };
    case 'repeat': {
      const isAny = node.item.kind === 'chars' && node.item.set === notLineFeed;
      if (!isAny || node.max !== Infinity) return { kind: 'other' };
      return { kind: node.min === 0 ? 'gap' : 'other' };
    }
    case 'group': {
      const item = goNode(node.item);
      return node.captures ? { kind: 'capture', item } : item;
    }
    case 'concat':
      return joined(node.items.map(goNode));
    case 'alternate':
      return factored(node.items.map(goNode));
  }
}

function joined(items: readonly GoNode[]): GoNode {
  const parts: GoNode[] = [];
  for (const item of items.flatMap((part) => (part.kind === 'concat' ? part.items : [part]))) {
    const before = parts.at(-1);
    if (before?.kind === 'literal' && item.kind === 'literal' && before.folded === item.folded) {
      parts[parts.length - 1] = { ...before, text: before.text + item.text };
    } else {
      parts.push(item);
    }
  }
  const [only] = parts;
  if (only === undefined) return { kind: 'empty' };
  return parts.length === 1 ? only : { kind: 'concat', items: parts };
}

function factored(items: readonly GoNode[]): GoNode {
  const out: GoNode[] = [];
  for (let from = 0; from < items.length;) {
    const { prefix, folded, to } = runWithPrefix(items, from);
    if (to === from + 1) {
      pushAlternative(out, items[from]);
    } else {
      const tails = factored(items.slice(from, to).map((item) => withoutPrefix(item, prefix)));
      const head: GoNode = { kind: 'literal', text: prefix, folded };
      out.push({ kind: 'concat', items: tails.kind === 'concat' ? [head, ...tails.items] : [head, tails] });
    }
    from = to;
  }
  const [only] = out;
  return out.length === 1 && only !== undefined ? only : { kind: 'alternate', items: out };
}

/** Adjacent single characters become one class. */
function pushAlternative(out: GoNode[], item: GoNode | undefined): void {
  if (item === undefined) return;
  const before = out.at(-1);
  if (before !== undefined && isOneChar(before) && isOneChar(item)) out[out.length - 1] = { kind: 'class' };
  else out.push(item);
}

function isOneChar(node: GoNode): boolean {
  return node.kind === 'class' || (node.kind === 'literal' && Array.from(node.text).length === 1);
}

function leading(node: GoNode | undefined): { text: string; folded: boolean } | undefined {
  if (node?.kind === 'literal') return node;
  return node?.kind === 'concat' && node.items[0]?.kind === 'literal' ? node.items[0] : undefined;
}

/** The alternatives from `from` on that share a prefix, and that prefix. */
function runWithPrefix(
  items: readonly GoNode[],
  from: number,
): { readonly prefix: string; readonly folded: boolean; readonly to: number } {
  const first = leading(items[from]);
  let prefix = first?.text ?? '';
  let to = from + 1;
  for (; to < items.length; to++) {
    const next = leading(items[to]);
    const shared = next !== undefined && next.folded === first?.folded ? commonPrefix(prefix, next.text) : '';
    if (shared === '') break;
    prefix = shared;
  }
  return { prefix, folded: first?.folded ?? false, to };
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  for (const char of a) {
    if (!b.startsWith(char, length)) break;
    length += char.length;
  }
  return a.slice(0, length);
}

function withoutPrefix(node: GoNode, prefix: string): GoNode {
  if (node.kind === 'literal') {
    const text = node.text.slice(prefix.length);
    return text === '' ? { kind: 'empty' } : { ...node, text };
  }
  if (node.kind !== 'concat') return node;
  const [first, ...rest] = node.items;
  if (first === undefined) return node;
  const tail = withoutPrefix(first, prefix);
  return joined(tail.kind === 'empty' ? rest : [tail, ...rest]);
}
