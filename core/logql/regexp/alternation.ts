import {
  emptyNode,
  firstLength,
  isSameStart,
  isSingle,
  mergedSingles,
  type Literal,
  type Sequence,
  type RegExpNode,
} from './tree.js';

/** A sequence of items, in which adjacent literals are joined. */
export function concatenation(items: readonly RegExpNode[]): RegExpNode {
  return sequence('concat', joined(items));
}

/** A sequence or an alternation of nodes; nested ones of the same kind are flattened. */
export function sequence(op: Sequence['op'], nodes: readonly RegExpNode[]): RegExpNode {
  const [only = emptyNode] = nodes;
  if (nodes.length <= 1) return only;
  const items = nodes.flatMap((node) => (node.op === op ? node.items : [node]));
  if (op === 'concat') return { op, items };
  const factored = withoutEmptyRuns(withMergedSingles(withCommonStarts(withCommonTexts(items))));
  const [first = emptyNode] = factored;
  return factored.length === 1 ? first : { op, items: factored };
}

/** Factors out the longest common prefix of adjacent alternatives: `foobar|foobaz` becomes `fooba(?:r|z)`. */
function withCommonTexts(items: readonly RegExpNode[]): readonly RegExpNode[] {
  const out: RegExpNode[] = [];
  let start = 0;
  let common = leadingText(items[0]);
  for (let at = 1; at <= items.length; at += 1) {
    const next = leadingText(items[at]);
    const shared = common === undefined || next === undefined ? '' : sharedText(common, next);
    if (common !== undefined && shared !== '') {
      common = { ...common, text: shared };
      continue;
    }
    const run = items.slice(start, at);
    if (run.length < 2 || common === undefined) out.push(...run);
    else
      out.push(
        factored(
          common,
          run.map((item) => withoutText(item, common?.text.length ?? 0)),
        ),
      );
    start = at;
    common = next;
  }
  return out;
}

/** As `withCommonTexts`, for a common character class or counted repetition of one. */
function withCommonStarts(items: readonly RegExpNode[]): readonly RegExpNode[] {
  const out: RegExpNode[] = [];
  let start = 0;
  let first = leadingNode(items[0]);
  for (let at = 1; at <= items.length; at += 1) {
    const next = leadingNode(items[at]);
    if (first !== undefined && next !== undefined && isSameStart(first, next)) continue;
    const run = items.slice(start, at);
    if (run.length < 2 || first === undefined) out.push(...run);
    else out.push(factored(first, run.map(withoutFirst)));
    start = at;
    first = next;
  }
  return out;
}

function factored(prefix: RegExpNode, rests: readonly RegExpNode[]): RegExpNode {
  return { op: 'concat', items: [prefix, sequence('alternate', rests)] };
}

function leadingText(item: RegExpNode | undefined): Literal | undefined {
  const first = item?.op === 'concat' ? item.items[0] : item;
  return first?.op === 'literal' ? first : undefined;
}

/** The common prefix of two texts, in code points. */
function sharedText(one: Literal, other: Literal): string {
  if (one.folds !== other.folds) return '';
  let at = 0;
  while (at < one.text.length && at < other.text.length) {
    const length = firstLength(one.text.slice(at, at + 2));
    if (one.text.slice(at, at + length) !== other.text.slice(at, at + length)) break;
    at += length;
  }
  return one.text.slice(0, at);
}

function withoutText(item: RegExpNode, length: number): RegExpNode {
  if (item.op === 'literal') {
    const text = item.text.slice(length);
    return text === '' ? { op: 'empty', folds: item.folds } : { ...item, text };
  }
  if (item.op !== 'concat') return item;
  const [first = emptyNode, ...others] = item.items;
  const rest = withoutText(first, length);
  if (rest.op !== 'empty') return { ...item, items: [rest, ...others] };
  const [next = emptyNode] = others;
  return others.length === 1 ? next : { ...item, items: others };
}

function leadingNode(item: RegExpNode | undefined): RegExpNode | undefined {
  const first = item?.op === 'concat' ? item.items[0] : item;
  return first?.op === 'empty' ? undefined : first;
}

function withoutFirst(item: RegExpNode): RegExpNode {
  if (item.op !== 'concat') return emptyNode;
  const [, ...others] = item.items;
  const [next = emptyNode] = others;
  return others.length <= 1 ? next : { ...item, items: others };
}

/** Merges adjacent alternatives of one character each into one class. */
export function withMergedSingles(items: readonly RegExpNode[]): readonly RegExpNode[] {
  const out: RegExpNode[] = [];
  let run: RegExpNode[] = [];
  for (const [at, item] of items.entries()) {
    if (isSingle(item)) run.push(item);
    else out.push(item);
    const next = items[at + 1];
    if (run.length > 0 && (next === undefined || !isSingle(next))) {
      out.push(mergedSingles(run));
      run = [];
    }
  }
  return out;
}

function withoutEmptyRuns(items: readonly RegExpNode[]): readonly RegExpNode[] {
  return items.filter((item, at) => item.op !== 'empty' || items[at + 1]?.op !== 'empty');
}

/** Joins adjacent literals, unless one of them ignores case and the other does not. */
function joined(items: readonly RegExpNode[]): readonly RegExpNode[] {
  const out: RegExpNode[] = [];
  let texts: string[] = [];
  for (const [at, item] of items.entries()) {
    if (item.op !== 'literal') {
      out.push(item);
      continue;
    }
    texts.push(item.text);
    const next = items[at + 1];
    if (next?.op === 'literal' && next.folds === item.folds) continue;
    out.push({ ...item, text: texts.join('') });
    texts = [];
  }
  return out.length === 0 ? [emptyNode] : out;
}
