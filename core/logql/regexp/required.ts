import { exactTree } from './parse.js';
import { codesOf, type CharSet } from './char-set.js';
import { setOf, type RegExpNode } from './tree.js';

/** Texts of which every match contains at least one. */
export type RequiredTexts = readonly string[];

const maxAnalysed = 2048;
const maxLists = 2;
/** Searching for one text is fast, searching for many is not. */
const maxTexts = 16;
const maxTextsOfRun = 8;
const maxAlternatives = 64;
const shortest = 3;
/** Maximum number of positions of a run that are considered, and of cases of one position: a letter has two, K and S have three. */
const maxRun = 64;
const maxCases = 3;
const replacement = 0xfffd;

/**
 * Texts that every match contains: at least one of each list. Searching for them is many times faster than matching the pattern. Empty if
 * there are no useful ones.
 */
export function requiredTexts(pattern: string): readonly RequiredTexts[] {
  if (pattern.length > maxAnalysed) return [];
  const tree = exactTree(pattern);
  if (tree === undefined) return [];
  const lists: RequiredTexts[] = [];
  for (const list of [...listsOf(tree)].sort((a, b) => worth(b) - worth(a)))
    if (lists.length < maxLists && !lists.some((other) => isImplied(list, other))) lists.push(list);
  return lists;
}

/** True if every line with a text of the other list also contains one of this list. */
function isImplied(list: RequiredTexts, other: RequiredTexts): boolean {
  return other.every((text) => list.some((part) => text.includes(part)));
}

/** The usefulness of a list: long texts are rare, but each text must be searched for. */
function worth(texts: RequiredTexts): number {
  return Math.min(...texts.map(({ length }) => length)) - texts.length / 4;
}

function listsOf(node: RegExpNode, mostAlternatives = maxAlternatives): readonly RequiredTexts[] {
  switch (node.op) {
    case 'assert':
    case 'empty':
      return [];
    case 'literal':
    case 'class':
    case 'any':
    case 'any-not-lf':
      return listsOfItems(inlined(node));
    case 'concat':
      return [...listsOfItems(inlined(node)), ...listsOfJoined(node.items, mostAlternatives)];
    case 'capture':
      return listsOf(node.item);
    case 'repeat':
      return node.min > 0 ? listsOf(node.item) : [];
    case 'alternate':
      return listsOfEach(node.items, mostAlternatives);
  }
}

function listsOfEach(nodes: readonly RegExpNode[], mostAlternatives: number): readonly RequiredTexts[] {
  const best = nodes.map(
    (node) => [...listsOf(node, mostAlternatives)].sort((a, b) => worth(b) - worth(a))[0],
  );
  const texts = new Set(best.flatMap((list) => list ?? []));
  return best.includes(undefined) || texts.size > maxTexts ? [] : [[...texts]];
}

/** Joins alternatives with the text around them, which Go has factored out: it parses `warn|wrn` as `w(?:arn|rn)`. */
function listsOfJoined(items: readonly RegExpNode[], mostAlternatives: number): readonly RequiredTexts[] {
  const at = items.findIndex(({ op }) => op === 'alternate');
  const choice = items[at];
  if (choice?.op !== 'alternate' || choice.items.length > mostAlternatives) return [];
  const sequences = choice.items.map((item): RegExpNode => {
    const inner = item.op === 'concat' ? item.items : [item];
    return { op: 'concat', items: [...items.slice(0, at), ...inner, ...items.slice(at + 1)] };
  });
  return listsOfEach(sequences, mostAlternatives / choice.items.length);
}

/** The items of nested sequences and groups as one list, with literals split into characters. */
function inlined(node: RegExpNode): readonly RegExpNode[] {
  if (node.op === 'capture') return inlined(node.item);
  if (node.op === 'literal') return Array.from(node.text, (text) => ({ ...node, text }));
  return node.op === 'concat' ? node.items.flatMap(inlined) : [node];
}

function listsOfItems(items: readonly RegExpNode[]): readonly RequiredTexts[] {
  const lists: RequiredTexts[] = [];
  let run: (readonly string[])[] = [];
  const endRun = (): void => {
    const texts = bestOf(run);
    if (texts !== undefined) lists.push(texts);
    run = [];
  };
  for (const item of items) {
    const set = setOf(item);
    const cases = set === undefined ? undefined : casesOf(set);
    if (cases !== undefined && run.length < maxRun) {
      run.push(cases);
      continue;
    }
    // Assertions match no characters, so the text around them stays adjacent.
    if (item.op === 'assert' || item.op === 'empty') continue;
    endRun();
    if (set === undefined) lists.push(...listsOf(item));
    else if (cases !== undefined) run.push(cases);
  }
  endRun();
  return lists;
}

/** The few characters of a set; undefined for a large set, and for one that contains the replacement character of invalid bytes. */
function casesOf(set: CharSet): readonly string[] | undefined {
  const codes = codesOf(set, maxCases + 1);
  if (codes.length === 0 || codes.length > maxCases) return undefined;
  const isBroken = codes.some((code) => code === replacement || (code >= 0xd800 && code <= 0xdfff));
  return isBroken ? undefined : codes.map((code) => String.fromCodePoint(code));
}

/** The most useful part of a run. */
function bestOf(run: readonly (readonly string[])[]): RequiredTexts | undefined {
  let best: RequiredTexts | undefined;
  for (let from = 0; from < run.length; from += 1) {
    let texts: readonly string[] = [''];
    for (let to = from; to < run.length; to += 1) {
      const cases = run[to] ?? [];
      if (texts.length * cases.length > maxTextsOfRun) break;
      texts = texts.flatMap((head) => cases.map((tail) => head + tail));
      if (to - from + 1 >= shortest && (best === undefined || worth(texts) > worth(best))) best = texts;
    }
  }
  return best;
}
