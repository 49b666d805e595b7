import { parseRegExp } from '../regexp/parse.js';
import { emptyNode, type Repetition, type RegExpNode } from '../regexp/tree.js';
import { lowered } from '../regexp/folding.js';

/** A test that Loki uses in place of a pattern. */
export type SimpleTest =
  | { readonly kind: 'all' | 'not-empty' }
  | { readonly kind: 'contains' | 'equals'; readonly text: string; readonly ignoresCase: boolean };

type Draft =
  | Exclude<SimpleTest, { readonly text: string }>
  | {
      readonly kind: 'contains' | 'equals';
      readonly text: GrowingText | string;
      readonly ignoresCase: boolean;
    };

/** Maximum length of a sequence that Loki simplifies. */
const mostItems = 3;

/**
 * The tests that Loki derives from a pattern in a filter, which do not always have the pattern's meaning. It drops `.*` at either end of a
 * text that is searched for anywhere, even in a label. It drops the parts between a text and alternatives, and appends each alternative to
 * the text. And it drops alternatives that match everything. Any of the tests must hold. Undefined for a pattern that Loki does not change.
 */
export function simplifiedRegexp(pattern: string, isLabel: boolean): readonly SimpleTest[] | undefined {
  if (pattern.length < longPattern) return simplifiedAnew(pattern, isLabel);
  if (last?.pattern !== pattern || last.isLabel !== isLabel)
    last = { pattern, isLabel, tests: simplifiedAnew(pattern, isLabel) };
  return last.tests;
}

/** Length from which results are cached: planning and running a query need them several times, and a long pattern takes milliseconds. */
const longPattern = 1_000;
let last:
  | {
      readonly pattern: string;
      readonly isLabel: boolean;
      readonly tests: readonly SimpleTest[] | undefined;
    }
  | undefined;

function simplifiedAnew(pattern: string, isLabel: boolean): readonly SimpleTest[] | undefined {
  const { root, isValid } = parseRegExp(pattern);
  const drafts = isValid ? simplified(expanded(root), isLabel) : undefined;
  return drafts?.map((draft) => ('text' in draft ? { ...draft, text: String(draft.text) } : draft));
}

/** A node with counted repetitions expanded. Only the part of a long sequence that Loki inspects is built. */
function expanded(node: RegExpNode): RegExpNode {
  switch (node.op) {
    case 'capture':
      return { ...node, item: expanded(node.item) };
    case 'concat':
    case 'alternate':
      return { ...node, items: node.items.map(expanded) };
    case 'repeat':
      return expandedRepetition(node);
    default:
      return node;
  }
}

function expandedRepetition(node: Repetition): RegExpNode {
  const { min, max, isLazy } = node;
  if (max === 0) return emptyNode;
  const item = expanded(node.item);
  if (min === 1 && max === 1) return item;
  const isPlain = (max === Infinity && min < 2) || (min === 0 && max === 1);
  if (isPlain) {
    if (item.op === 'empty') return item;
    const isRepeated = item.op === 'repeat' && item.min === min && item.max === max && item.isLazy === isLazy;
    return isRepeated ? item : { ...node, item };
  }
  if (min === 0) return { ...node, max: 1, item };
  const rest: RegExpNode[] = max > min ? [{ ...node, min: max === Infinity ? 1 : 0, item }] : [];
  const times = Math.min(max === Infinity ? min - 1 : min, mostItems + 1);
  return { op: 'concat', items: [...Array<RegExpNode>(times).fill(item), ...rest] };
}

function simplified(node: RegExpNode, isLabel: boolean): readonly Draft[] | undefined {
  switch (node.op) {
    case 'alternate': {
      const tests: Draft[] = [];
      for (const item of node.items) {
        const next = simplified(withoutCapture(item), isLabel);
        if (next === undefined) return undefined;
        if (isAll(tests)) tests.pop();
        if (tests.length === 0 || !isAll(next)) for (const one of next) tests.push(one);
      }
      return tests;
    }
    case 'concat':
      return simplifiedConcat(node.items, undefined);
    case 'capture':
      return simplified(node.item, isLabel);
    case 'literal':
      return [textTest(isLabel ? 'equals' : 'contains', node.text, node.folds)];
    case 'repeat':
      if (isDots(node)) return [{ kind: 'all' }];
      return node.min === 1 && node.max === Infinity && node.item.op === 'any-not-lf'
        ? [{ kind: 'not-empty' }]
        : undefined;
    case 'empty':
      return [{ kind: 'all' }];
    default:
      return undefined;
  }
}

/** Simplifies a text with `.*` around it, or before alternatives that continue it. */
function simplifiedConcat(
  items: readonly RegExpNode[],
  before: GrowingText | undefined,
): readonly Draft[] | undefined {
  const bare = items.map(withoutCapture).filter(({ op }) => op !== 'empty');
  if (bare.length > mostItems) return undefined;
  let text = before;
  let ignoresCase = false;
  let hasText = false;
  const tests: Draft[] = [];
  for (const item of bare) {
    if (item.op === 'literal') {
      if (hasText) return undefined;
      hasText = true;
      text = text?.append(item.text) ?? GrowingText.of(item.text);
      ignoresCase = item.folds;
    } else if (item.op === 'alternate' && text !== undefined) {
      const next = continued(item.items, text, ignoresCase);
      if (next === undefined) return undefined;
      for (const one of next) tests.push(one);
    } else if (!isDots(item)) {
      return undefined;
    }
  }
  if (tests.length > 0) return tests;
  return text === undefined ? undefined : [textTest('contains', text, ignoresCase)];
}

/** The text followed by each of the alternatives. */
function continued(
  items: readonly RegExpNode[],
  text: GrowingText,
  ignoresCase: boolean,
): readonly Draft[] | undefined {
  const tests: Draft[] = [];
  for (const item of items) {
    if (!ignoresCase && 'folds' in item && item.folds) return undefined;
    if (item.op === 'empty' || isDots(item)) {
      tests.push(textTest('contains', text, ignoresCase));
    } else if (item.op === 'literal') {
      tests.push(textTest('contains', `${String(text)}${item.text}`, ignoresCase));
    } else if (item.op === 'concat') {
      const inner = simplifiedConcat(item.items, text);
      if (inner === undefined) return undefined;
      for (const one of inner) tests.push(one);
    } else {
      return undefined;
    }
  }
  return tests;
}

function isAll([first]: readonly Draft[]): boolean {
  return first?.kind === 'all';
}

function isDots(node: RegExpNode): boolean {
  return node.op === 'repeat' && node.min === 0 && node.max === Infinity && node.item.op === 'any-not-lf';
}

/** The content of a group; Loki unwraps only one level. */
function withoutCapture(node: RegExpNode): RegExpNode {
  return node.op === 'capture' ? node.item : node;
}

/** A text that ignores case is converted to lower case, in memory of its own. */
function textTest(kind: 'contains' | 'equals', text: GrowingText | string, ignoresCase: boolean): Draft {
  return { kind, text: ignoresCase ? lowered(String(text)) : text, ignoresCase };
}

/** Allocation sizes of Go's allocator in bytes, up to where it allocates whole pages. */
const sizes: readonly number[] = [
  8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416,
  448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072, 3200,
  3456, 4096, 4864, 5120, 5376, 6144, 6528, 6784, 6912, 8192, 9472, 9728, 10240, 10880, 12288, 13568, 14336,
  16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768,
];
const page = 8192;
/** Size up to which Go doubles the capacity of a slice. */
const doubled = 256;

/**
 * A text that Loki makes by appending to another one. Texts appended to the same one share its memory while that has capacity, so the last
 * one overwrites the others: `foo(b.*|c.*)` searches for `fooc` twice, and never for `foob`.
 */
class GrowingText {
  readonly #memory: Buffer;
  readonly #length: number;

  private constructor(memory: Buffer, length: number) {
    this.#memory = memory;
    this.#length = length;
  }

  static of(text: string): GrowingText {
    return new GrowingText(Buffer.alloc(0), 0).append(text);
  }

  append(text: string): GrowingText {
    const added = Buffer.byteLength(text);
    const length = this.#length + added;
    const memory = length <= this.#memory.length ? this.#memory : this.#grown(length);
    memory.write(text, this.#length);
    return new GrowingText(memory, length);
  }

  toString(): string {
    return this.#memory.toString('utf8', 0, this.#length);
  }

  #grown(length: number): Buffer {
    const had = this.#memory.length;
    const memory = Buffer.alloc(roundedUp(had === 0 ? length : grownSize(had, length)));
    this.#memory.copy(memory, 0, 0, this.#length);
    return memory;
  }
}

function grownSize(had: number, needed: number): number {
  if (needed > 2 * had) return needed;
  if (had < doubled) return 2 * had;
  let size = had;
  while (size < needed) size += Math.floor((size + 3 * doubled) / 4);
  return size;
}

function roundedUp(size: number): number {
  return sizes.find((one) => one >= size) ?? Math.ceil(size / page) * page;
}
