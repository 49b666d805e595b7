import { parseRegExp } from './parse.js';
import type { CharSet } from './char-set.js';
import type { RegExpNode } from './tree.js';

/** Texts of which every match contains at least one. */
export type RequiredTexts = readonly string[];

const maxAnalysed = 2048;
const maxLists = 2;
/** Searching for one text is fast, for many it is not. */
const maxTexts = 16;
const maxTextsOfRun = 8;
const shortest = 3;
/** The most positions of a run that are considered, and the most cases of one position: a letter has two, K and S have three. */
const maxRun = 64;
const maxCases = 3;
const replacement = 0xfffd;

/**
 * Texts that every match contains: from each list at least one. Searching for them is many times faster than for the pattern. Empty when
 * there is nothing useful.
 */
export function requiredTexts(pattern: string): readonly RequiredTexts[] {
  if (pattern.length > maxAnalysed) return [];
  const tree = parseRegExp(pattern, false);
  if (tree === undefined) return [];
  return [...listsOf(tree)].sort((a, b) => worth(b) - worth(a)).slice(0, maxLists);
}

/** Long texts are rare, and each text must be searched for. */
function worth(texts: RequiredTexts): number {
  return Math.min(...texts.map(({ length }) => length)) - texts.length / 4;
}

function listsOf(node: RegExpNode): readonly RequiredTexts[] {
  switch (node.kind) {
    case 'assert':
      return [];
    case 'chars':
    case 'concat':
      return listsOfItems(inlined(node));
    case 'group':
      return listsOf(node.item);
    case 'repeat':
      return node.min > 0 ? listsOf(node.item) : [];
    case 'alternate': {
      const best = node.items.map((item) => [...listsOf(item)].sort((a, b) => worth(b) - worth(a))[0]);
      const texts = new Set(best.flatMap((list) => list ?? []));
      return best.includes(undefined) || texts.size > maxTexts ? [] : [[...texts]];
    }
  }
}

/** The items of nested sequences and groups in one list. */
function inlined(node: RegExpNode): readonly RegExpNode[] {
  if (node.kind === 'group') return inlined(node.item);
  return node.kind === 'concat' ? node.items.flatMap(inlined) : [node];
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
    const cases = item.kind === 'chars' ? casesOf(item.set) : undefined;
    if (cases !== undefined && run.length < maxRun) {
      run.push(cases);
      continue;
    }
    // Assertions match no characters, so the text around them stays adjacent.
    if (item.kind === 'assert') continue;
    endRun();
    if (item.kind !== 'chars') lists.push(...listsOf(item));
    else if (cases !== undefined) run.push(cases);
  }
  endRun();
  return lists;
}

/** The few characters of a set; undefined for a large set, and for one with the character that also replaces invalid bytes. */
function casesOf(set: CharSet): readonly string[] | undefined {
  const cases: string[] = [];
  for (const [low, high] of set) {
    if (high - low >= maxCases) return undefined;
    for (let code = low; code <= high; code += 1) {
      if (code === replacement || (code >= 0xd800 && code <= 0xdfff)) return undefined;
      cases.push(String.fromCodePoint(code));
    }
  }
  return cases.length === 0 || cases.length > maxCases ? undefined : cases;
}

/** The most useful stretch of a run. */
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
