import { collapseNums } from '../../../victoria/logsql/eval/collapse.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, exact, field, not, or } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { unknownLevel } from '../../../victoria/names/level.js';
import {
  formOf,
  levelOfShape,
  shapeOf,
  type LevelForm,
  type LineShape,
} from '../../../victoria/names/level-shape.js';
import type { Upstream } from '../../../victoria/upstream/types.js';
import type { Memory } from '../../../base/memory/byte-lru.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace, type Steps } from '../../../base/pace/steps.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import type { LineSamples, SampledLine, SampledLines } from './line-samples.js';

/** The value of a column in a group or a row. */
export type Get = (name: string) => string | undefined;

/** How the backend splits lines into shapes, so that it can count lines by level without sending them. */
export interface LineShaper {
  readonly pipes: readonly LogsqlPipe[];
  /** The columns that identify a shape. */
  readonly columns: readonly string[];
  /** A line with the same meaning as a group's lines; undefined when their shape does not decide it. */
  representativeOf(get: Get): RepresentativeLine | undefined;
  /** How to split lines of which none is in doubt, which takes less; undefined where a sample holds lines that are. */
  readonly sure?: SureShaper<LineShaper> | undefined;
}

/** A shaper for lines that have been looked at before. */
export interface SureShaper<Shaper> {
  readonly doubts: Doubts;
  readonly shaper: Shaper;
}

/** The shaper for lines of which so many are in doubt; undefined where that is not known. */
export function surest<Shaper extends { readonly sure?: SureShaper<Shaper> | undefined }>(
  shaper: Shaper,
  { doubtful }: { readonly doubtful: number | undefined },
): Shaper {
  return doubtful === 0 ? (shaper.sure?.shaper ?? shaper) : shaper;
}

/** What to look for in a selection's lines, once; `key` tells it apart. */
export interface Doubts {
  readonly key: string;
  readonly pipes: readonly LogsqlPipe[];
  /** Matches lines, behind the pipes, that represent only themselves. */
  readonly filter: LogsqlFilter;
}

const maxForms = 3;
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

/** Splits lines by what stands around their level. */
export interface LevelShaper extends LineShaper {
  /** The text around a level, in the order in which it is looked for. */
  readonly forms: readonly LevelForm[];
  /** The pipes that cut out a level. */
  readonly extracting: readonly LogsqlPipe[];
  /** The column of the level that was cut out. */
  readonly value: string;
  /** The parts of a group's shape, and the level of its lines: the empty text for none, undefined when it depends on the rest. */
  partsOf(get: Get): { readonly text: string; readonly value: string; readonly level?: string };
}

/** What to find out about lines. */
export interface LineQuestion<Shaper extends LineShaper = LineShaper> {
  /** Identifies the question. */
  readonly key: string;
  /** How to split lines like these into shapes, or why they should be read instead; a line in each step. */
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

  /** How to split the lines into shapes, or why they should be read instead: they must have enough in common. */
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
  const forms = yield* commonForms(lines);
  const shapes = new Map<string, boolean>();
  const cuts: Cuts = { starts: new Set(), values: new Set(), uncut: new Set() };
  let undecided = 0;
  for (const line of lines) {
    const shape = collapsed(shapeOf(line, forms));
    const key = JSON.stringify(shape);
    let isDecided = shapes.get(key);
    if (isDecided === undefined) shapes.set(key, (isDecided = levelOfShape(shape) !== undefined));
    if (!isDecided) undecided += 1;
    if (shape.form === undefined) cuts.uncut.add(shape.line);
    else {
      cuts.starts.add(shape.before);
      cuts.values.add(shape.value);
    }
    yield;
  }
  const isWorthwhile =
    shapes.size * minLinesPerShape <= lines.length && undecided * minLinesPerShape <= lines.length;
  if (!isWorthwhile) return decline('lines-differ');
  return undecided === 0 ? { ...shaperOf(forms), sure: sureLevels(forms, cuts) } : shaperOf(forms);
}

/** What stands in front of levels, the levels, and lines without one; with numbers collapsed. */
interface Cuts {
  readonly starts: Set<string>;
  readonly values: Set<string>;
  readonly uncut: Set<string>;
}

const maxStarts = 32;
const maxStartBytes = 4000;

/**
 * Where levels stand behind few texts, and mean the same behind each, what is cut out of a line tells its level. So does that nothing is, where
 * such lines are few and of one level.
 */
function sureLevels(forms: readonly LevelForm[], cuts: Cuts): LineShaper['sure'] {
  const starts = [...cuts.starts].sort();
  const uncut = levelOfAll(cuts.uncut, (line) => levelOf(line, '', forms));
  const lines = uncut === undefined ? [] : [...cuts.uncut].sort();
  const text = JSON.stringify([forms, starts, lines]);
  const isShort = starts.length + lines.length <= maxStarts && text.length <= maxStartBytes;
  if (starts.length === 0 || !isShort) return undefined;
  const cutLevel = (found: string): string | undefined =>
    levelOfAll(starts, (start) => levelOf(start, found, forms));
  if ([...cuts.values].some((found) => cutLevel(found) === undefined)) return undefined;
  const { pipes, columns } = shaperOf(forms);
  const isOneOf = (texts: readonly string[]): LogsqlFilter => or(...texts.map((one) => exact(before, one)));
  const known = or(
    and(not(unmatched), isOneOf(starts)),
    uncut === undefined ? unmatched : and(unmatched, isOneOf(lines)),
  );
  const cut = cutting(forms, (prefix) => prefix);
  return {
    doubts: { key: `level ${text}`, pipes, filter: not(known) },
    shaper: {
      pipes: uncut === undefined ? [...cut, ...keepingUncut(forms)] : cut,
      columns: uncut === undefined ? columns : [value],
      representativeOf(get) {
        const found = get(value) ?? '';
        if (found !== '') return representing(cutLevel(found));
        return representing(uncut ?? levelOf(get(before) ?? '', '', forms));
      },
    },
  };
}

/** The level of all of these, where it is the same. */
function levelOfAll(
  texts: Iterable<string>,
  levelOf: (text: string) => string | undefined,
): string | undefined {
  const levels = new Set(Array.from(texts, levelOf));
  return levels.size === 1 ? [...levels][0] : undefined;
}

export function* commonForms(lines: readonly string[]): Steps<readonly LevelForm[]> {
  const counted = new Map<string, { readonly form: LevelForm; count: number }>();
  for (const line of lines) {
    yield;
    const form = formOf(line);
    if (form === undefined) continue;
    const known = counted.get(form.prefix);
    if (known === undefined) counted.set(form.prefix, { form, count: 1 });
    else known.count += 1;
  }
  const all = [...counted.values()].sort((a, b) => b.count - a.count);
  return all.slice(0, maxForms).map(({ form }) => form);
}

function collapsed(shape: LineShape): LineShape {
  return shape.form === undefined
    ? { form: undefined, line: collapseNums(shape.line, false) }
    : { ...shape, before: collapseNums(shape.before, false) };
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

/** Keeps lines without a level whole; numbers are collapsed. */
function keepingUncut(forms: readonly LevelForm[]): readonly LogsqlPipe[] {
  return [
    {
      ...{ kind: 'format', pattern: '<_msg>', as: before, rule: 'overwrite' },
      ...(forms.length === 0 ? {} : { condition: unmatched }),
    },
    { kind: 'collapse_nums', at: before, prettify: false },
  ];
}

/** Cuts a line after the level in the first matching form; a line without one is kept whole. Numbers are collapsed. */
export function shaperOf(forms: readonly LevelForm[]): LevelShaper {
  const extracting = cutting(forms, (prefix) => `<plain:${before}>${prefix}`);
  return {
    pipes: [...extracting, ...keepingUncut(forms)],
    columns: [before, value],
    forms,
    extracting,
    value,
    partsOf(get) {
      const [text, found] = [get(before) ?? '', get(value) ?? ''];
      const level = levelOf(text, found, forms);
      return { text, value: found, ...(level === undefined ? {} : { level }) };
    },
    representativeOf(get) {
      return representing(this.partsOf(get).level);
    },
  };
}

/** A line without a level. */
export const noLevel = 'x';

/** A level word alone is a line of that level. */
function representing(level: string | undefined): RepresentativeLine | undefined {
  return level === undefined ? undefined : { line: level === '' ? noLevel : level };
}

/** What either is in doubt about; the second looks only at some lines. */
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

/** What the backend cuts out of a line in place of a level (`LevelShaper.extracting`); empty for nothing. */
export function cutOut(line: string, { forms }: LevelShaper): string {
  const possible = forms.filter(({ prefix }) => isOfObjects(prefix) === line.startsWith('{'));
  const shape = shapeOf(line, possible);
  return shape.form === undefined ? '' : shape.value;
}

function isOfObjects(prefix: string): boolean {
  return prefix.startsWith('"');
}
