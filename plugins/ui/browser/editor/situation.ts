import type { SyntaxNode, Tree } from '@lezer/common';

/** A complete comparison of a selector, which restricts the names and values that are offered. */
export interface WrittenMatcher {
  readonly name: string;
  readonly op: string;
  /** The value as written, with its quotes. */
  readonly value: string;
}

/** The kinds of text that fit at a position of a query. */
export type Situation =
  | { readonly kind: 'start' }
  /** The name of a label in a selector. */
  | { readonly kind: 'label-name'; readonly others: readonly WrittenMatcher[] }
  /** The value of a label in a selector; `isQuoted` within its quotes. */
  | {
      readonly kind: 'label-value';
      readonly name: string;
      readonly isQuoted: boolean;
      readonly others: readonly WrittenMatcher[];
    }
  /** After a selector or a stage. */
  | { readonly kind: 'stage' }
  /** A label of a row: in a filter after `|`, in `by (...)`, after `unwrap`, `drop` and `keep`. */
  | {
      readonly kind: 'row-label';
      readonly in: 'filter' | 'grouping' | 'unwrap' | 'list';
      readonly logQuery: string;
    }
  | { readonly kind: 'range' }
  /** In a function's parentheses, or where an expression can start. */
  | { readonly kind: 'expression' }
  | { readonly kind: 'none' };

const none: Situation = { kind: 'none' };

/** Determines what fits at `at`, from Grafana's tree, and from the text before the cursor if the tree is broken. */
export function situationAt(tree: Tree, text: string, at: number): Situation {
  if (text.trim() === '') return { kind: 'start' };
  const node = tree.resolveInner(at, -1);
  if (isIn(node, 'LineComment')) return none;
  const before = text.slice(0, at);
  const open = openBracket(before);
  if (open !== undefined && open.sign === '{') return inSelector(node, text, at, open.at);
  if (isIn(node, 'String')) return none;
  if (isInsideText(before)) return none;
  if (open?.sign === '[') return { kind: 'range' };
  const logQuery = logQueryOf(node, text, at);
  if (open?.sign === '(') {
    const head = before.slice(0, open.at).trimEnd();
    if (/\b(?:by|without|on|ignoring|group_left|group_right)$/i.test(head))
      return { kind: 'row-label', in: 'grouping', logQuery };
    if (/\|\s*unwrap\s+\w+$/.test(head)) return { kind: 'row-label', in: 'unwrap', logQuery };
  }
  const word = /[\w.]*$/.exec(before)?.[0] ?? '';
  const lead = before.slice(0, before.length - word.length).trimEnd();
  if (/\|\s*unwrap$/.test(lead)) return { kind: 'row-label', in: 'unwrap', logQuery };
  if (/\|\s*(?:drop|keep)(?:\s+[\w.]+\s*,)*$/.test(lead)) return { kind: 'row-label', in: 'list', logQuery };
  if (/(?:\||\band|\bor|,)$/.test(lead) && isBehindSelector(before)) {
    if (lead.endsWith('|') || open === undefined) return { kind: 'row-label', in: 'filter', logQuery };
  }
  if (isBehindSelector(before) && (/[}"`]$/.test(lead) || /\w$/.test(lead))) return { kind: 'stage' };
  if (/[(,]$/.test(lead) || lead === '' || /[-+*/%^<>]$|\b(?:and|or|unless|bool)$/.test(lead))
    return { kind: 'expression' };
  return none;
}

/** The innermost bracket that is open at the end of a text, ignoring quoted text. */
function openBracket(text: string): { readonly sign: string; readonly at: number } | undefined {
  const open: { sign: string; at: number }[] = [];
  for (const { index, sign } of signsOf(text)) {
    if ('([{'.includes(sign)) open.push({ sign, at: index });
    else if (')]}'.includes(sign)) open.pop();
  }
  return open.at(-1);
}

// Quoted texts are one token; an unclosed one reaches to the end. Each alternative starts with another character.
const token = /"(?:[^"\\]|\\.)*(?:"|\\?$)|`[^`]*(?:`|$)|#[^\n]*|[()[\]{}]/gs;

function* signsOf(text: string): Generator<{ readonly index: number; readonly sign: string }> {
  for (const found of text.matchAll(token)) {
    if (found[0].length === 1 && found[0] !== '"' && found[0] !== '`' && found[0] !== '#')
      yield { index: found.index, sign: found[0] };
  }
}

/** True if the end of a text is inside quotes. */
function isInsideText(text: string): boolean {
  return unclosed(text) !== undefined;
}

/** Position of the opening quote of an unclosed text at the end. */
function unclosed(text: string): number | undefined {
  for (const { index, 0: found } of text.matchAll(token)) {
    const isQuoted = found.startsWith('"') || found.startsWith('`');
    if (isQuoted && index + found.length === text.length && (found.length === 1 || !isClosed(found)))
      return index;
  }
  return undefined;
}

function isClosed(quoted: string): boolean {
  return quoted.startsWith('`') ? quoted.endsWith('`') : /^"(?:[^"\\]|\\.)*"$/s.test(quoted);
}

function isBehindSelector(before: string): boolean {
  let isClosedOne = false;
  for (const { sign } of signsOf(before)) {
    if (sign === '}') isClosedOne = true;
    if (sign === '[') isClosedOne = false;
  }
  return isClosedOne;
}

function inSelector(node: SyntaxNode, text: string, at: number, begin: number): Situation {
  const inside = text.slice(begin + 1, at);
  const quote = unclosed(inside);
  const head = quote === undefined ? inside : inside.slice(0, quote);
  const others = matchersAround(node, text, at);
  const compared = /([A-Za-z_][\w.]*)\s*(?:=~|!~|!=|=)\s*$/.exec(head);
  if (compared !== null)
    return { kind: 'label-value', name: compared[1] ?? '', isQuoted: quote !== undefined, others };
  if (quote !== undefined) return none;
  return /(?:^|,)\s*[\w.]*$/.test(head) ? { kind: 'label-name', others } : none;
}

/** The complete comparisons of the enclosing selector, without the one at the cursor. */
function matchersAround(node: SyntaxNode, text: string, at: number): readonly WrittenMatcher[] {
  let selector: SyntaxNode | null = node;
  while (selector !== null && selector.name !== 'Selector') selector = selector.parent;
  const found: WrittenMatcher[] = [];
  selector?.cursor().iterate(({ name, node: one }) => {
    if (name !== 'Matcher') return;
    if (one.from <= at && at <= one.to) return false;
    const [label, op, value] = [one.firstChild, one.firstChild?.nextSibling, one.getChild('String')];
    if (label === null || op === null || op === undefined || value === null) return;
    const textOf = ({ from, to }: SyntaxNode): string => text.slice(from, to);
    found.push({ name: textOf(label), op: textOf(op), value: textOf(value) });
    return;
  });
  return found;
}

/** The log query around the cursor, up to the last complete stage, for which the names of rows are requested. */
function logQueryOf(node: SyntaxNode, text: string, at: number): string {
  let around: SyntaxNode | null = node;
  while (around !== null && around.name !== 'LogExpr' && around.name !== 'LogRangeExpr')
    around = around.parent;
  const selector = (around ?? rootOf(node)).cursor();
  let query = '';
  selector.iterate(({ name, from, to, node: one }) => {
    if (name === 'Selector' && query === '' && one.getChild('Matchers') !== null)
      query = text.slice(from, to);
    if (name === 'PipelineStage' && query !== '' && to < at && isWhole(one))
      query += ` ${text.slice(from, to)}`;
    if (name === 'Selector') return false;
    return;
  });
  return query;
}

function isWhole(node: SyntaxNode): boolean {
  let isGood = true;
  node.cursor().iterate(({ type }) => {
    if (type.isError) isGood = false;
  });
  return isGood;
}

function rootOf(node: SyntaxNode): SyntaxNode {
  let root = node;
  while (root.parent !== null) root = root.parent;
  return root;
}

function isIn(node: SyntaxNode, name: string): boolean {
  for (let at: SyntaxNode | null = node; at !== null; at = at.parent) if (at.name === name) return true;
  return false;
}
