import { collapseNums } from '../../../victoria/logsql/eval/collapse.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, exact, field, not, oneOf, or, regexp } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { unknownLevel } from '../../../victoria/names/level.js';
import { commonForms, levelOfShape, shapeOf, type LevelForm } from '../../../victoria/names/level-shape.js';
import type { Upstream } from '../../../victoria/upstream/types.js';
import type { Memory } from '../../../base/memory/byte-lru.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace, type Steps } from '../../../base/pace/steps.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import type { LineSamples, SampledLine, SampledLines } from './line-samples.js';

/** The value of a column in a group or a row. */
export type Get = (name: string) => string | undefined;

/** Splits lines into classes in the backend, so that it can count lines by level without sending them. */
export interface LineShaper {
  readonly pipes: readonly LogsqlPipe[];
  /** The columns that identify a shape. */
  readonly columns: readonly string[];
  /** A line with the same meaning as a group's lines; undefined when their shape does not decide it. */
  representativeOf(get: Get): RepresentativeLine | undefined;
  /** A cheaper digest for lines of which none is uncertain; undefined where a sample holds uncertain lines. */
  readonly sure?: SureShaper<LineShaper> | undefined;
}

/** A shaper for lines that have been looked at before. */
export interface SureShaper<Shaper> {
  readonly doubts: Doubts;
  readonly shaper: Shaper;
}

/** The cheapest digest for lines of which `uncertain` are uncertain; undefined where that is not known. */
export function surest<Shaper extends { readonly sure?: SureShaper<Shaper> | undefined }>(
  shaper: Shaper,
  { doubtful }: { readonly doubtful: number | undefined },
): Shaper {
  return doubtful === 0 ? (shaper.sure?.shaper ?? shaper) : shaper;
}

/** Lines to look for once in a selection; `key` identifies them. */
export interface Doubts {
  readonly key: string;
  readonly pipes: readonly LogsqlPipe[];
  /** Matches lines, behind the pipes, that represent only themselves. */
  readonly filter: LogsqlFilter;
}

/** The most forms that a count looks for in lines. */
const maxForms = 4;
/** The most forms that are tried on a sample. */
const maxTried = 10;
/** Few lines often show what they have in common, and a first query waits for them; where they do not, more are read. */
const rowsPerSlice = [200, 500] as const;
/** The least number of lines per shape that makes counting by shape worthwhile. */
export const minLinesPerShape = 6;
const keptMs = 600_000;
/** A shaper consists of a few pipes. */
const shaperBytes = 1000;

/** A line to evaluate in place of all lines of a group. */
export interface RepresentativeLine {
  readonly line: string;
  /** Their level, when the line does not contain it. */
  readonly level?: string;
}

/** Splits lines by the text around their level. */
export interface LevelShaper extends LineShaper {
  /** The text around a level, in the order in which it is looked for. */
  readonly forms: readonly LevelForm[];
  /** The pipes that cut out a level. */
  readonly extracting: readonly LogsqlPipe[];
  /** The column of the level that was cut out. */
  readonly value: string;
}

/** A question about lines that a sample of them answers. */
export interface LineQuestion<Shaper extends LineShaper = LineShaper> {
  /** Identifies the question. */
  readonly key: string;
  /** Returns a digest for lines like these, or the reason to read them instead; each step handles one line. */
  readonly judge: (lines: readonly string[]) => Steps<Shaper | Declined>;
}

/** The lines that a question is about. */
export interface AskedLines extends SampledLines {
  readonly samples: Pick<LineSamples, 'of'>;
  /** Ends the look at them. */
  readonly signal: AbortSignal;
}

/** Finds out from a sample of a selection's lines whether shapes decide their meaning, and caches the result. */
export class LineShapes {
  readonly #memory: Memory<LineShaper | Declined>;

  constructor(memory: Memory<LineShaper | Declined>) {
    this.#memory = memory;
  }

  /** The answer, if it is remembered. */
  known<Shaper extends LineShaper>(
    { key }: LineQuestion<Shaper>,
    { upstream, selection }: Pick<AskedLines, 'upstream' | 'selection'>,
  ): Shaper | Declined | undefined {
    // The key names the question, so that this is what its judge has returned.
    return this.#memory.get(keyOf(key, upstream, selection)) as Shaper | Declined | undefined;
  }

  /** A digest of the lines, or the reason to read them instead: they must have enough in common. */
  async of<Shaper extends LineShaper>(
    question: LineQuestion<Shaper>,
    asked: AskedLines,
  ): Promise<Shaper | Declined> {
    const known = this.known(question, asked);
    if (known !== undefined) return known;
    const [few, more] = rowsPerSlice;
    let lines = await asked.samples.of(asked, few);
    let shaper = await judged(question, lines, asked);
    if (isDeclined(shaper) && asked.rows > few) {
      const others = await asked.samples.of(asked, more);
      if (others !== lines) shaper = await judged(question, others, asked);
      lines = others;
    }
    // An empty sample says nothing about other ranges.
    const key = keyOf(question.key, asked.upstream, asked.selection);
    if (lines.length > 0) this.#memory.set(key, shaper, shaperBytes, keptMs);
    return shaper;
  }
}

function judged<Shaper extends LineShaper>(
  { judge }: LineQuestion<Shaper>,
  lines: readonly SampledLine[],
  { signal }: Pick<AskedLines, 'signal'>,
): Promise<Shaper | Declined> {
  return atPace(judge(lines.map(({ line }) => line)), new Pacer(signal));
}

function keyOf(question: string, { owner }: Pick<Upstream, 'owner'>, selection: LogsqlFilter): string {
  return `${question} ${owner} ${printFilter(selection)}`;
}

/** Distinguishes lines by the text before their level. */
export const levelQuestion: LineQuestion = { key: 'level', judge: shaperFor };

/** Decides from a sample of lines. */
export function* shaperFor(lines: readonly string[]): Steps<LineShaper | Declined> {
  let forms: readonly LevelForm[] = [];
  let best = judgedCuts(yield* cutBy(forms, lines));
  // A form that makes the level behind another one uncertain, or tells none itself, leaves more shapes than there were.
  for (const form of yield* commonForms(lines, maxTried, minLinesPerShape)) {
    if (forms.length === maxForms) break;
    const judged = judgedCuts(yield* cutBy([...forms, form], lines));
    if (judged.shapes < best.shapes) [forms, best] = [[...forms, form], judged];
  }
  if (!isWorthwhile(best.shapes, lines.length)) return decline('lines-differ');
  return { ...shaperOf(forms, best.values), sure: sureLevels(forms, best) };
}

/** Lines that are cut alike. */
interface Cut {
  /** The text in front of the level, or the whole line, with numbers collapsed. */
  readonly start: string;
  /** The text that was cut out in place of a level; empty if none was. */
  readonly value: string;
  readonly level: string | undefined;
  lines: number;
}

/** Cuts lines as the backend does. */
function* cutBy(forms: readonly LevelForm[], lines: readonly string[]): Steps<readonly Cut[]> {
  const cuts = new Map<string, Cut>();
  for (const line of lines) {
    yield;
    const shape = shapeOf(line, forms);
    const [text, found] = shape.form === undefined ? [line, ''] : [shape.before, shape.value];
    const start = found === '' && mayHoldLevel(line) ? line : collapseNums(text, false);
    const key = JSON.stringify([start, found]);
    const known = cuts.get(key);
    if (known !== undefined) known.lines += 1;
    else cuts.set(key, { start, value: found, level: levelOf(start, found, forms), lines: 1 });
  }
  return [...cuts.values()];
}

interface JudgedCuts {
  readonly cuts: readonly Cut[];
  /** The values that mostly tell the level of their lines. */
  readonly values: readonly string[];
  /** The number of different lines that the backend would send. */
  readonly shapes: number;
}

const maxValues = 16;
const maxValueLength = 50;

function judgedCuts(cuts: readonly Cut[]): JudgedCuts {
  const telling = new Map<string, number>();
  for (const { value: found, level, lines } of cuts)
    if (found !== '' && found.length <= maxValueLength)
      telling.set(found, (telling.get(found) ?? 0) + (level === undefined ? -lines : lines));
  const values = [...telling]
    .filter(([, lines]) => lines > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, maxValues)
    .map(([found]) => found)
    .sort();
  return { cuts, values, shapes: shapesOf(cuts, values) };
}

/** The number of different lines that the backend would send if all of these values were decisive. */
function shapesOf(cuts: readonly Cut[], values: readonly string[]): number {
  const isOne = ({ value: found, level }: Cut): boolean =>
    level !== undefined && (found === '' || values.includes(found));
  return cuts.reduce((sum, cut) => sum + (isOne(cut) ? 1 : cut.lines), 0);
}

function linesOf(cuts: readonly Cut[]): number {
  return cuts.reduce((sum, { lines }) => sum + lines, 0);
}

function isWorthwhile(shapes: number, lines: number): boolean {
  return shapes * minLinesPerShape <= lines;
}

const maxStarts = 32;
const maxStartBytes = 4000;

/**
 * Where levels stand behind few texts, and mean the same behind each, what is cut out of a line tells its level. So does that nothing is,
 * where such lines are few and of one level.
 */
function sureLevels(forms: readonly LevelForm[], { cuts, values }: JudgedCuts): LineShaper['sure'] {
  const cut = cuts.filter(({ value: found }) => values.includes(found));
  const whole = cuts.filter(({ value: found }) => found === '');
  const starts = [...new Set(cut.map(({ start }) => start))].sort();
  const cutLevel = (found: string): string | undefined =>
    levelOfAll(starts, (start) => levelOf(start, found, forms));
  const told = values.filter((found) => cutLevel(found) !== undefined);
  if (
    told.length === 0 ||
    !isWorthwhile(shapesOf(cuts, told), linesOf(cuts)) ||
    whole.some(({ level }) => level === undefined)
  )
    return undefined;
  const areAlike = whole.length <= maxStarts && isWorthwhile(whole.length, linesOf(whole));
  const uncut = areAlike ? levelOfAll(whole, ({ level }) => level) : undefined;
  const lines = uncut === undefined ? [] : whole.map(({ start }) => start).sort();
  const text = JSON.stringify([forms, told, starts, lines]);
  const isShort = starts.length + lines.length <= maxStarts && text.length <= maxStartBytes;
  if (!isShort) return undefined;
  const isValue = oneOf(value, told);
  const startsLike = (texts: readonly string[]): LogsqlFilter =>
    or(...texts.map((one) => exact(before, one)));
  const known = or(
    and(isValue, startsLike(starts)),
    uncut === undefined ? unmatched : and(unmatched, startsLike(lines)),
    and(not(isValue), not(unmatched)),
  );
  const isTold = uncut === undefined ? isValue : or(isValue, unmatched);
  return {
    doubts: { key: `level ${text}`, pipes: shaperOf(forms, told).pipes, filter: not(known) },
    shaper: {
      pipes: [...cutting(forms, (prefix) => prefix), ...keepingWhole(isTold)],
      columns: [before, value],
      representativeOf(get) {
        const found = get(value) ?? '';
        if (told.includes(found)) return representing(cutLevel(found));
        const isUncut = found === '' && uncut !== undefined;
        return representing(isUncut ? uncut : levelOf(get(before) ?? '', '', forms));
      },
    },
  };
}

/** The level of all of these, where it is the same. */
function levelOfAll<Item>(
  items: Iterable<Item>,
  levelOf: (item: Item) => string | undefined,
): string | undefined {
  const levels = new Set(Array.from(items, levelOf));
  return levels.size === 1 ? [...levels][0] : undefined;
}

// A client field is unlikely to have this name, and would only be overwritten during counting.
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
    return {
      ...{ kind: 'extract', pattern, from: '_msg', rule: 'overwrite' },
      condition,
    };
  });
}

/** The start of a possible level in an object that counts as text once the number in front of it is collapsed. */
const levelInObject = '(?:level|lvl|severity)(?:_?text)?"[ \\t\\r\\n]*:[ \\t\\r\\n]*"';
const findsLevel = new RegExp(levelInObject, 'i');

function mayHoldLevel(line: string): boolean {
  return line.startsWith('{') && findsLevel.test(line);
}

/** Keeps all other lines whole: those without a level with numbers collapsed, unless their level might depend on them. */
function keepingWhole(areTold: LogsqlFilter): readonly LogsqlPipe[] {
  const dependsOnNumbers = and(startsAnObject, regexp(before, `(?i)${levelInObject}`));
  return [
    { kind: 'format', pattern: '<_msg>', as: before, rule: 'overwrite', condition: not(areTold) },
    {
      ...{ kind: 'collapse_nums', at: before, prettify: false },
      condition: or(areTold, and(unmatched, not(dependsOnNumbers))),
    },
  ];
}

/**
 * Cuts a line after the level in the first matching form, if it is one of these values; any other line is kept whole. Numbers are
 * collapsed in the text in front of a level.
 */
export function shaperOf(forms: readonly LevelForm[], values: readonly string[]): LevelShaper {
  const extracting = cutting(forms, (prefix) => `<plain:${before}>${prefix}`);
  return {
    pipes: [...extracting, ...keepingWhole(values.length === 0 ? or() : oneOf(value, values))],
    columns: [before, value],
    forms,
    extracting,
    value,
    representativeOf(get) {
      const found = get(value) ?? '';
      return representing(levelOf(get(before) ?? '', values.includes(found) ? found : '', forms));
    },
  };
}

/** A line without a level. */
export const noLevel = 'x';

/** A level word alone is a line of that level. */
function representing(level: string | undefined): RepresentativeLine | undefined {
  return level === undefined ? undefined : { line: level === '' ? noLevel : level };
}

/** Union of uncertain lines; each filter works on the lines behind its own pipes. */
export function joinedDoubts(doubts: readonly Doubts[]): Doubts | undefined {
  const [first, ...others] = doubts;
  if (first === undefined || others.length === 0) return first;
  return {
    key: JSON.stringify(doubts.map(({ key }) => key)),
    pipes: doubts.flatMap(({ pipes }) => pipes),
    filter: or(...doubts.map(({ filter }) => filter)),
  };
}

/** Splits lines in both ways: the first provides the line, the second the level. */
export function withLevels(lines: LineShaper, levels: LineShaper): LineShaper {
  return {
    pipes: [...lines.pipes, ...levels.pipes],
    columns: [...lines.columns, ...levels.columns],
    representativeOf(get) {
      const [representative, level] = [lines.representativeOf(get), levels.representativeOf(get)];
      if (representative === undefined || level === undefined) return undefined;
      return { ...representative, level: level.line === noLevel ? unknownLevel : level.line };
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

/** The text that the backend cuts out of a line in place of a level (`LevelShaper.extracting`); empty if there is none. */
export function cutOut(line: string, { forms }: LevelShaper): string {
  const possible = forms.filter(({ prefix }) => isOfObjects(prefix) === line.startsWith('{'));
  const shape = shapeOf(line, possible);
  return shape.form === undefined ? '' : shape.value;
}

function isOfObjects(prefix: string): boolean {
  return prefix.startsWith('"');
}
