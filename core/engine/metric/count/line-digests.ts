import { collapseNums } from '../../../victoria/logsql/eval/collapse.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, exact, extract, field, not, oneOf, or, regexp } from '../../../victoria/logsql/build.js';
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
export interface LineDigest {
  readonly pipes: readonly LogsqlPipe[];
  /** The columns that identify a class. */
  readonly columns: readonly string[];
  /** A line with the same meaning as the lines of a group; undefined if the class does not decide it. */
  representativeOf(get: Get): RepresentativeLine | undefined;
  /** A cheaper digest for selections without uncertain lines; undefined if the sample contains uncertain lines. */
  readonly proven?: ProvenDigest<LineDigest> | undefined;
}

/** A digest for lines that have already been inspected. */
export interface ProvenDigest<Digest> {
  readonly uncertainLines: UncertainLines;
  readonly digest: Digest;
}

/** The cheapest digest for `uncertain` uncertain lines; undefined if their number is unknown. */
export function cheapestDigest<Digest extends { readonly proven?: ProvenDigest<Digest> | undefined }>(
  digest: Digest,
  { uncertainRows }: { readonly uncertainRows: number | undefined },
): Digest {
  return uncertainRows === 0 ? (digest.proven?.digest ?? digest) : digest;
}

/** Lines to search for once in a selection; `key` identifies them. */
export interface UncertainLines {
  readonly key: string;
  readonly pipes: readonly LogsqlPipe[];
  /** Matches, after the pipes, the lines that represent only themselves. */
  readonly filter: LogsqlFilter;
}

/** Maximum number of forms that a count searches lines for. */
const maxForms = 4;
/** Maximum number of forms that are tried on a sample. */
const maxTried = 10;
/** Sample sizes. A first query waits for the sample, and few lines often show a common form; if not, more lines are read. */
const rowsPerSlice = [200, 500] as const;
/** Minimum number of lines per class for counting by class to be worthwhile. */
export const minLinesPerClass = 6;
const keptMs = 600_000;
/** Approximate size of a digest in memory, which consists of a few pipes. */
const digestBytes = 1000;

/** A line to evaluate in place of all lines of a group. */
export interface RepresentativeLine {
  readonly line: string;
  /** The level of the lines, if this line does not contain it. */
  readonly level?: string;
}

/** Splits lines by the text around their level. */
export interface LevelDigest extends LineDigest {
  /** The text around a level, in the order of the search. */
  readonly forms: readonly LevelForm[];
  /** The pipes that cut out a level. */
  readonly extracting: readonly LogsqlPipe[];
  /** The column of the level that was cut out. */
  readonly value: string;
}

/** A question about lines that a sample of them answers. */
export interface LineQuestion<Digest extends LineDigest = LineDigest> {
  /** Identifies the question in the memory of digests. */
  readonly key: string;
  /** Returns a digest for lines like these, or the reason to read them instead; each step handles one line. */
  readonly digestFor: (lines: readonly string[]) => Steps<Digest | Declined>;
}

/** The lines to digest. */
export interface LinesToDigest extends SampledLines {
  readonly samples: Pick<LineSamples, 'of'>;
  /** Ends the sampling. */
  readonly signal: AbortSignal;
}

/** Finds out from a sample whether classes decide the meaning of a selection's lines, and remembers the result. */
export class LineDigests {
  readonly #memory: Memory<LineDigest | Declined>;

  constructor(memory: Memory<LineDigest | Declined>) {
    this.#memory = memory;
  }

  /** The remembered digest or decline, if any. */
  known<Digest extends LineDigest>(
    { key }: LineQuestion<Digest>,
    { upstream, selection }: Pick<LinesToDigest, 'upstream' | 'selection'>,
  ): Digest | Declined | undefined {
    // The key identifies the question, so the value is a result of its `digestFor`.
    return this.#memory.get(keyOf(key, upstream, selection)) as Digest | Declined | undefined;
  }

  /** A digest of the lines, or the reason to read them instead: they must have enough in common. */
  async of<Digest extends LineDigest>(
    question: LineQuestion<Digest>,
    asked: LinesToDigest,
  ): Promise<Digest | Declined> {
    const known = this.known(question, asked);
    if (known !== undefined) return known;
    const [few, more] = rowsPerSlice;
    let lines = await asked.samples.of(asked, few);
    let digest = await digestFromSample(question, lines, asked);
    if (isDeclined(digest) && asked.rows > few) {
      const others = await asked.samples.of(asked, more);
      if (others !== lines) digest = await digestFromSample(question, others, asked);
      lines = others;
    }
    // An empty sample says nothing about other ranges.
    const key = keyOf(question.key, asked.upstream, asked.selection);
    if (lines.length > 0) this.#memory.set(key, digest, digestBytes, keptMs);
    return digest;
  }
}

function digestFromSample<Digest extends LineDigest>(
  { digestFor }: LineQuestion<Digest>,
  lines: readonly SampledLine[],
  { signal }: Pick<LinesToDigest, 'signal'>,
): Promise<Digest | Declined> {
  return atPace(digestFor(lines.map(({ line }) => line)), new Pacer(signal));
}

function keyOf(question: string, { owner }: Pick<Upstream, 'owner'>, selection: LogsqlFilter): string {
  return `${question} ${owner} ${printFilter(selection)}`;
}

/** Distinguishes lines by the text before their level. */
export const levelQuestion: LineQuestion = { key: 'level', digestFor: levelDigestFor };

/** Derives a digest from a sample of lines. */
export function* levelDigestFor(lines: readonly string[]): Steps<LineDigest | Declined> {
  let forms: readonly LevelForm[] = [];
  let best = scoreCuts(yield* cutBy(forms, lines));
  // A form that finds no level, or hides the level behind another form, leaves more classes than before.
  for (const form of yield* commonForms(lines, maxTried, minLinesPerClass)) {
    if (forms.length === maxForms) break;
    const scored = scoreCuts(yield* cutBy([...forms, form], lines));
    if (scored.classes < best.classes) [forms, best] = [[...forms, form], scored];
  }
  if (!isWorthwhile(best.classes, lines.length)) return decline('lines-differ');
  return { ...levelDigestOf(forms, best.values), proven: provenLevels(forms, best) };
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
function provenLevels(forms: readonly LevelForm[], { cuts, values }: ScoredCuts): LineDigest['proven'] {
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
  const text = JSON.stringify([forms, decisive, starts, lines]);
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
    uncertainLines: { key: `level ${text}`, pipes: levelDigestOf(forms, decisive).pipes, filter: not(known) },
    digest: {
      pipes: [...cutting(forms, (prefix) => prefix), ...keepingWhole(isDecisive)],
      columns: [before, value],
      representativeOf(get) {
        const found = get(value) ?? '';
        if (decisive.includes(found)) return representing(cutLevel(found));
        const isUncut = found === '' && uncut !== undefined;
        return representing(isUncut ? uncut : levelOf(get(before) ?? '', '', forms));
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

/** Keeps all other lines whole. Lines without a level get their numbers collapsed, unless their level might depend on these. */
function keepingWhole(areDecisive: LogsqlFilter): readonly LogsqlPipe[] {
  const dependsOnNumbers = and(startsAnObject, regexp(before, `(?i)${levelInObject}`));
  return [
    { kind: 'format', pattern: '<_msg>', as: before, rule: 'overwrite', condition: not(areDecisive) },
    {
      ...{ kind: 'collapse_nums', at: before, prettify: false },
      condition: or(areDecisive, and(unmatched, not(dependsOnNumbers))),
    },
  ];
}

/**
 * Cuts a line after the level in the first matching form, if the level is one of these values; any other line is kept whole. Numbers in the
 * text before the level are collapsed.
 */
export function levelDigestOf(forms: readonly LevelForm[], values: readonly string[]): LevelDigest {
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

/** A line that consists of the level word alone has that level. */
function representing(level: string | undefined): RepresentativeLine | undefined {
  return level === undefined ? undefined : { line: level === '' ? noLevel : level };
}

/** Union of uncertain lines; each filter applies after its own pipes. */
export function joinUncertainLines(uncertainLines: readonly UncertainLines[]): UncertainLines | undefined {
  const [first, ...others] = uncertainLines;
  if (first === undefined || others.length === 0) return first;
  return {
    key: JSON.stringify(uncertainLines.map(({ key }) => key)),
    pipes: uncertainLines.flatMap(({ pipes }) => pipes),
    filter: or(...uncertainLines.map(({ filter }) => filter)),
  };
}

/** Combines two digests: the first provides the line, the second the level. */
export function withLevels(lines: LineDigest, levels: LineDigest): LineDigest {
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

/** The text that the backend cuts out of a line as a level (`LevelDigest.extracting`); empty if there is none. */
export function cutOut(line: string, { forms }: LevelDigest): string {
  const possible = forms.filter(({ prefix }) => isOfObjects(prefix) === line.startsWith('{'));
  const shape = shapeOf(line, possible);
  return shape.form === undefined ? '' : shape.value;
}

function isOfObjects(prefix: string): boolean {
  return prefix.startsWith('"');
}
