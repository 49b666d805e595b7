/** Counts lines by the text around their level. */
import { collapseNums } from '../../../victoria/logsql/eval/collapse.js';
import { lowerText, WordFinder } from '../../../victoria/logsql/eval/words.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import {
  and,
  exact,
  extract,
  field,
  not,
  oneOf,
  or,
  phrase,
  present,
  regexp,
  substring,
} from '../../../victoria/logsql/build.js';
import { commonForms, levelOfShape, shapeOf, type LevelForm } from '../../../victoria/names/level-shape.js';
import { levelWords } from '../../../victoria/names/level-words.js';
import type { Steps } from '../../../base/pace/steps.js';
import { decline, type Declined } from '../declined.js';
import {
  minLinesPerClass,
  noLevel,
  type LineDigest,
  type LineQuestion,
  type RepresentativeLine,
} from './line-digests.js';

/** Splits lines by the text around their level. */
export interface LevelDigest extends LineDigest {
  /** The text around a level, in the order of the search. */
  readonly forms: readonly LevelForm[];
  /** The pipes that cut out a level. */
  readonly extracting: readonly LogsqlPipe[];
  /** The column of the level that was cut out. */
  readonly value: string;
}

/** Maximum number of forms that a count searches lines for. */
const maxForms = 4;
/** Maximum number of forms that are tried on a sample. */
const maxTried = 10;

/** Distinguishes lines by the text before their level. */
export const levelQuestion: LineQuestion = { key: 'level', digestFor: levelDigestFor };

/** Derives a digest from a sample of lines. */
export function* levelDigestFor(lines: readonly string[]): Steps<LineDigest | Declined> {
  let forms: readonly LevelForm[] = [];
  let best = scoreCuts(yield* cutBy({ forms, skipsWordless: false }, lines));
  // A form that finds no level, or hides the level behind another form, leaves more classes than before.
  for (const form of yield* commonForms(lines, maxTried, minLinesPerClass)) {
    if (forms.length === maxForms) break;
    const scored = scoreCuts(yield* cutBy({ forms: [...forms, form], skipsWordless: false }, lines));
    if (scored.classes < best.classes) [forms, best] = [[...forms, form], scored];
  }
  // Where lines differ as much, words alone find their levels in less time.
  if (!isWorthwhile(best.classes, lines.length)) return decline('lines-differ');
  const skipping = scoreCuts(yield* cutBy({ forms, skipsWordless: true }, lines));
  const skipsWordless = best.classes - skipping.classes > lines.length * minWordlessShare;
  if (skipsWordless) best = skipping;
  const cutting = { forms, skipsWordless };
  return { ...levelDigestOf(cutting, best.values), proven: provenLevels(cutting, best) };
}

/** Minimum share of a sample's lines that must differ from all others, and contain no level word, for words to be searched for. */
const minWordlessShare = 0.02;

/** The cuts of a digest. */
interface LevelCuts {
  readonly forms: readonly LevelForm[];
  /** True if lines without a level in one of the forms are one class if they contain no level word anywhere. */
  readonly skipsWordless: boolean;
}

/** Lines with the same cut. */
interface Cut {
  /** The text before the level, or the whole line, with numbers collapsed. */
  readonly start: string;
  /** The text that was cut out as a level; empty if none was. */
  readonly value: string;
  readonly level: string | undefined;
  lines: number;
}

/** Cuts lines as the backend does. */
function* cutBy({ forms, skipsWordless }: LevelCuts, lines: readonly string[]): Steps<readonly Cut[]> {
  const cuts = new Map<string, Cut>();
  for (const line of lines) {
    yield;
    const shape = shapeOf(line, forms);
    const [text, found] = shape.form === undefined ? [line, ''] : [shape.before, shape.value];
    const isUncut = found === '';
    const isWordless = skipsWordless && isUncut && !hasLevelWord(line);
    const start = isWordless ? noLevel : isUncut && mayHoldLevel(line) ? line : collapseNums(text, false);
    const key = JSON.stringify([start, found]);
    const known = cuts.get(key);
    if (known !== undefined) known.lines += 1;
    else cuts.set(key, { start, value: found, level: levelOf(start, found, forms), lines: 1 });
  }
  return [...cuts.values()];
}

interface ScoredCuts {
  readonly cuts: readonly Cut[];
  /** The values that determine the level of most of their lines. */
  readonly values: readonly string[];
  /** Number of distinct lines that the backend would send. */
  readonly classes: number;
}

const maxValues = 16;
const maxValueLength = 50;

function scoreCuts(cuts: readonly Cut[]): ScoredCuts {
  const scores = new Map<string, number>();
  for (const { value: found, level, lines } of cuts)
    if (found !== '' && found.length <= maxValueLength)
      scores.set(found, (scores.get(found) ?? 0) + (level === undefined ? -lines : lines));
  const values = [...scores]
    .filter(([, lines]) => lines > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, maxValues)
    .map(([found]) => found)
    .sort();
  return { cuts, values, classes: classesOf(cuts, values) };
}

/** Number of distinct lines that the backend would send if all these values were decisive. */
function classesOf(cuts: readonly Cut[], values: readonly string[]): number {
  const isOne = ({ value: found, level }: Cut): boolean =>
    level !== undefined && (found === '' || values.includes(found));
  return cuts.reduce((sum, cut) => sum + (isOne(cut) ? 1 : cut.lines), 0);
}

function linesOf(cuts: readonly Cut[]): number {
  return cuts.reduce((sum, { lines }) => sum + lines, 0);
}

function isWorthwhile(classes: number, lines: number): boolean {
  return classes * minLinesPerClass <= lines;
}

const maxStarts = 32;
const maxStartBytes = 4000;

/**
 * If levels follow few texts, and mean the same after each of them, the text that is cut out of a line determines its level. The same holds
 * for lines without such a text, if they are few and have the same level.
 */
function provenLevels(
  { forms, skipsWordless }: LevelCuts,
  { cuts, values }: ScoredCuts,
): LineDigest['proven'] {
  const cut = cuts.filter(({ value: found }) => values.includes(found));
  const whole = cuts.filter(({ value: found }) => found === '');
  const starts = [...new Set(cut.map(({ start }) => start))].sort();
  const cutLevel = (found: string): string | undefined =>
    levelOfAll(starts, (start) => levelOf(start, found, forms));
  const decisive = values.filter((found) => cutLevel(found) !== undefined);
  if (
    decisive.length === 0 ||
    !isWorthwhile(classesOf(cuts, decisive), linesOf(cuts)) ||
    whole.some(({ level }) => level === undefined)
  )
    return undefined;
  const areAlike = whole.length <= maxStarts && isWorthwhile(whole.length, linesOf(whole));
  const uncut = areAlike ? levelOfAll(whole, ({ level }) => level) : undefined;
  const lines = uncut === undefined ? [] : whole.map(({ start }) => start).sort();
  const text = JSON.stringify([forms, decisive, starts, lines, skipsWordless]);
  const isShort = starts.length + lines.length <= maxStarts && text.length <= maxStartBytes;
  if (!isShort) return undefined;
  const isValue = oneOf(value, decisive);
  const startsLike = (texts: readonly string[]): LogsqlFilter =>
    or(...texts.map((one) => exact(before, one)));
  const known = or(
    and(isValue, startsLike(starts)),
    uncut === undefined ? unmatched : and(unmatched, startsLike(lines)),
    and(not(isValue), not(unmatched)),
  );
  const isDecisive = uncut === undefined ? isValue : or(isValue, unmatched);
  return {
    uncertainLines: {
      key: `level ${text}`,
      pipes: levelDigestOf({ forms, skipsWordless }, decisive).pipes,
      filter: not(known),
    },
    digest: {
      pipes: [
        ...cutting(forms, (prefix) => prefix),
        ...keepingWhole(isDecisive, skipsWordless && uncut === undefined),
      ],
      columns: [before, value],
      representativeOf(get) {
        const found = get(value) ?? '';
        if (decisive.includes(found)) return representingLevel(cutLevel(found));
        const isUncut = found === '' && uncut !== undefined;
        return representingLevel(isUncut ? uncut : levelOf(get(before) ?? '', '', forms));
      },
    },
  };
}

/** The level that all items have; undefined if they differ. */
function levelOfAll<Item>(
  items: Iterable<Item>,
  levelOf: (item: Item) => string | undefined,
): string | undefined {
  const levels = new Set(Array.from(items, levelOf));
  return levels.size === 1 ? [...levels][0] : undefined;
}

// Unlikely as the name of a client's field, which would only be overwritten during counting.
const before = '__shape_start';
const value = '__shape_level';
const startsAnObject = field('_msg', { kind: 'exact-prefix', text: '{' });

const unmatched = exact(value, '');

/** Cuts a level out of a line in the first matching form. */
function cutting(forms: readonly LevelForm[], startOf: (prefix: string) => string): readonly LogsqlPipe[] {
  return forms.map(({ prefix, suffix }, index): LogsqlPipe => {
    const pattern = `${startOf(prefix)}<plain:${value}>${suffix}`;
    const condition = and(
      index === 0 ? and() : unmatched,
      isOfObjects(prefix) ? startsAnObject : not(startsAnObject),
    );
    return { ...extract('_msg', pattern), condition };
  });
}

/** Start of a possible level in a JSON object that is treated as text after the number before it is collapsed. */
const levelInObject = '(?:level|lvl|severity)(?:_?text)?"[ \\t\\r\\n]*:[ \\t\\r\\n]*"';
const findsLevel = new RegExp(levelInObject, 'i');

function mayHoldLevel(line: string): boolean {
  return line.startsWith('{') && findsLevel.test(line);
}

const lowerCase = '__shape_lower';
/** The start of an escape, with which a quoted value may spell a word. */
const escape = '\\u';
const holdsLevelWord = or(...levelWords.map((word) => phrase(lowerCase, word)), substring(lowerCase, escape));
const wordFinders = levelWords.map((word) => new WordFinder(word));

/** True if the backend finds a level word in a line. */
function hasLevelWord(line: string): boolean {
  const text = lowerText(line);
  return text.includes(escape) || wordFinders.some((finder) => finder.find(text) >= 0);
}

/**
 * Keeps all other lines whole. Lines without a level get their numbers collapsed, unless their level might depend on these.
 * @param skipsWordless as in `LevelCuts`
 */
function keepingWhole(areDecisive: LogsqlFilter, skipsWordless: boolean): readonly LogsqlPipe[] {
  const dependsOnNumbers = and(startsAnObject, regexp(before, `(?i)${levelInObject}`));
  const overwrite = { kind: 'format', rule: 'overwrite' } as const;
  const isWordless = and(unmatched, not(present(lowerCase)));
  const findingWords: readonly LogsqlPipe[] = [
    { ...overwrite, pattern: '<lc:_msg>', as: lowerCase, condition: unmatched },
    { ...overwrite, pattern: '', as: lowerCase, condition: and(unmatched, not(holdsLevelWord)) },
    { ...overwrite, pattern: noLevel, as: before, condition: isWordless },
  ];
  const others = skipsWordless ? or(areDecisive, isWordless) : areDecisive;
  const uncut = skipsWordless ? present(lowerCase) : unmatched;
  return [
    ...(skipsWordless ? findingWords : []),
    { ...overwrite, pattern: '<_msg>', as: before, condition: not(others) },
    {
      ...{ kind: 'collapse_nums', at: before, prettify: false },
      condition: or(areDecisive, and(uncut, not(dependsOnNumbers))),
    },
  ];
}

/**
 * Cuts a line after the level in the first matching form, if the level is one of these values; any other line is kept whole. Numbers in the
 * text before the level are collapsed.
 */
export function levelDigestOf({ forms, skipsWordless }: LevelCuts, values: readonly string[]): LevelDigest {
  const extracting = cutting(forms, (prefix) => `<plain:${before}>${prefix}`);
  return {
    pipes: [...extracting, ...keepingWhole(values.length === 0 ? or() : oneOf(value, values), skipsWordless)],
    columns: [before, value],
    forms,
    extracting,
    value,
    representativeOf(get) {
      const found = get(value) ?? '';
      return representingLevel(levelOf(get(before) ?? '', values.includes(found) ? found : '', forms));
    },
  };
}

function levelOf(start: string, level: string, forms: readonly LevelForm[]): string | undefined {
  if (level === '') return levelOfShape({ form: undefined, line: start });
  // Any of the forms may have matched.
  const possible = forms.filter(({ prefix }) => isOfObjects(prefix) === start.startsWith('{'));
  const levels = new Set(possible.map((form) => levelOfShape({ form, before: start, value: level })));
  return levels.size === 1 ? [...levels][0] : undefined;
}

/** The text that the backend cuts out of a line as a level (`LevelDigest.extracting`); empty if there is none. */
export function cutOut(line: string, { forms }: LevelDigest): string {
  const possible = forms.filter(({ prefix }) => isOfObjects(prefix) === line.startsWith('{'));
  const shape = shapeOf(line, possible);
  return shape.form === undefined ? '' : shape.value;
}

function isOfObjects(prefix: string): boolean {
  return prefix.startsWith('"');
}

/** A line that consists of the level word alone has that level. */
export function representingLevel(level: string | undefined): RepresentativeLine | undefined {
  return level === undefined ? undefined : { line: level === '' ? noLevel : level };
}
