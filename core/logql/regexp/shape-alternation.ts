import {
  emptyShape,
  firstLength,
  isSameStart,
  isSingle,
  mergedSingles,
  type LiteralShape,
  type SequenceShape,
  type Shape,
} from './shape.js';

/** A sequence or a choice of shapes; those of its own kind inside of it are taken apart. */
export function sequence(op: SequenceShape['op'], shapes: readonly Shape[]): Shape {
  const [only = emptyShape] = shapes;
  if (shapes.length <= 1) return only;
  const items = shapes.flatMap((shape) => (shape.op === op ? shape.items : [shape]));
  if (op === 'concat') return { op, items };
  const factored = withoutEmptyRuns(withMergedSingles(withCommonStarts(withCommonTexts(items))));
  const [first = emptyShape] = factored;
  return factored.length === 1 ? first : { op, items: factored };
}

/** Takes out the longest text that neighbours begin with: `foobar|foobaz` becomes `fooba(?:r|z)`. */
function withCommonTexts(items: readonly Shape[]): readonly Shape[] {
  const out: Shape[] = [];
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

/** The same for a class or a counted one. */
function withCommonStarts(items: readonly Shape[]): readonly Shape[] {
  const out: Shape[] = [];
  let start = 0;
  let first = leadingShape(items[0]);
  for (let at = 1; at <= items.length; at += 1) {
    const next = leadingShape(items[at]);
    if (first !== undefined && next !== undefined && isSameStart(first, next)) continue;
    const run = items.slice(start, at);
    if (run.length < 2 || first === undefined) out.push(...run);
    else out.push(factored(first, run.map(withoutFirst)));
    start = at;
    first = next;
  }
  return out;
}

function factored(prefix: Shape, rests: readonly Shape[]): Shape {
  return { op: 'concat', items: [prefix, sequence('alternate', rests)] };
}

function leadingText(item: Shape | undefined): LiteralShape | undefined {
  const first = item?.op === 'concat' ? item.items[0] : item;
  return first?.op === 'literal' ? first : undefined;
}

/** The code points that two texts begin with. */
function sharedText(one: LiteralShape, other: LiteralShape): string {
  if (one.folds !== other.folds) return '';
  let at = 0;
  while (at < one.text.length && at < other.text.length) {
    const length = firstLength(one.text.slice(at, at + 2));
    if (one.text.slice(at, at + length) !== other.text.slice(at, at + length)) break;
    at += length;
  }
  return one.text.slice(0, at);
}

function withoutText(item: Shape, length: number): Shape {
  if (item.op === 'literal') {
    const text = item.text.slice(length);
    return text === '' ? { op: 'empty', folds: item.folds } : { ...item, text };
  }
  if (item.op !== 'concat') return item;
  const [first = emptyShape, ...others] = item.items;
  const rest = withoutText(first, length);
  if (rest.op !== 'empty') return { ...item, items: [rest, ...others] };
  const [next = emptyShape] = others;
  return others.length === 1 ? next : { ...item, items: others };
}

function leadingShape(item: Shape | undefined): Shape | undefined {
  const first = item?.op === 'concat' ? item.items[0] : item;
  return first?.op === 'empty' ? undefined : first;
}

function withoutFirst(item: Shape): Shape {
  if (item.op !== 'concat') return emptyShape;
  const [, ...others] = item.items;
  const [next = emptyShape] = others;
  return others.length <= 1 ? next : { ...item, items: others };
}

/** Neighbours of one character each become one class. */
export function withMergedSingles(items: readonly Shape[]): readonly Shape[] {
  const out: Shape[] = [];
  let run: Shape[] = [];
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

function withoutEmptyRuns(items: readonly Shape[]): readonly Shape[] {
  return items.filter((item, at) => item.op !== 'empty' || items[at + 1]?.op !== 'empty');
}
