import type { TimeRange } from '../../../base/time/range.js';
import { collapseNums } from '../../../victoria/logsql/eval/collapse.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, exact, field, fields, limit, not, query } from '../../../victoria/logsql/build.js';
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
import { decline, type Declined } from '../declined.js';

/** The value of a column in a group or a row. */
export type Get = (name: string) => string | undefined;

/** How the backend cuts lines into shapes, so that it can count lines by level without sending them. */
export interface Cutting {
  readonly pipes: readonly LogsqlPipe[];
  /** The columns by which shapes are told. */
  readonly columns: readonly string[];
  /** A line that means the same as those of a group; undefined where their shape does not tell. */
  toldBy(get: Get): Told | undefined;
}

const maxForms = 3;
const slices = 8n;
const rowsPerSlice = 250;
const maxRowsPerSlice = 1000;
/** Lines per shape, at the least, for shapes to be worth it. */
export const worthwhile = 6;
const keptMs = 600_000;
/** Characters of a sample that is kept for the other questions of its request, and how many are. */
const maxSampleKept = 1 << 20;
const maxSamplesKept = 4;
/** A cutting is a few pipes. */
const cuttingBytes = 1000;

/** A line that can be read in place of all lines of a group. */
export interface Told {
  readonly line: string;
  /** Their level, where the line does not tell it. */
  readonly level?: string;
}

/** What lines are asked about. */
export interface LineQuestion {
  /** Tells one question from another. */
  readonly key: string;
  /** How lines like these are cut, or why they are better read. */
  readonly judge: (lines: readonly string[]) => Cutting | Declined;
}

/** Which lines a question is asked about. */
export interface AskedLines {
  readonly owner: string;
  readonly upstream: Upstream;
  readonly selection: LogsqlFilter;
  readonly range: TimeRange;
  /** About so many are in the range. */
  readonly rows: number;
  readonly samples: LineSamples;
}

/** Finds out from a few lines of a selection whether shapes tell what they mean, and remembers it. */
export class LineShapes {
  readonly #memory: Memory<Cutting | Declined>;

  constructor(memory: Memory<Cutting | Declined>) {
    this.#memory = memory;
  }

  /** How lines are cut, or why they are better read: they have too little in common. */
  async of(question: LineQuestion, asked: AskedLines): Promise<Cutting | Declined> {
    const key = `${question.key} ${asked.owner} ${printFilter(asked.selection)}`;
    const known = this.#memory.get(key);
    if (known !== undefined) return known;
    const lines = await asked.samples.of(asked);
    const cutting = question.judge(lines);
    // An empty sample says nothing of other ranges.
    if (lines.length > 0) this.#memory.set(key, cutting, cuttingBytes, keptMs);
    return cutting;
  }
}

/** The lines that one request has looked at: its questions are about the same lines. */
export class LineSamples {
  readonly #known = new Map<string, readonly string[]>();

  /** A few of these lines, read once. */
  async of({ upstream, selection, range, rows }: AskedLines): Promise<readonly string[]> {
    const key = `${range.startNs} ${range.endNs} ${rows} ${printFilter(selection)}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const lines = await sample(upstream, selection, range, rows);
    const length = lines.reduce((sum, line) => sum + line.length, 0);
    if (length <= maxSampleKept && this.#known.size < maxSamplesKept) this.#known.set(key, lines);
    return lines;
  }
}

/** Lines of all streams from all over a range. */
async function sample(
  upstream: Upstream,
  selection: LogsqlFilter,
  { startNs, endNs }: TimeRange,
  rows: number,
): Promise<readonly string[]> {
  const pipes = [fields('_msg'), limit(maxRowsPerSlice)];
  const lengthNs = (endNs - startNs) / slices;
  // What comes first under a limit is one stream's, so stretches are cut such that there are no more rows than wanted.
  const wanted = BigInt(rowsPerSlice) * slices;
  const cutNs =
    rows <= rowsPerSlice ? lengthNs : (lengthNs * wanted) / (BigInt(Math.ceil(rows)) + wanted) + 1n;
  const found = await Promise.all(
    Array.from({ length: Number(slices) }, async (_, index) => {
      const lines: string[] = [];
      const from = startNs + BigInt(index) * lengthNs;
      const range = { startNs: from, endNs: from + cutNs };
      if (cutNs <= 0n) return lines;
      for await (const batch of upstream.rows({ query: query(selection, pipes), range })) {
        for (const row of batch) lines.push(row['_msg'] ?? '');
      }
      return lines;
    }),
  );
  return found.flat();
}

/** Lines by what stands in front of their levels. */
export const levelQuestion: LineQuestion = { key: 'level', judge: cuttingFor };

/** Judges shapes by a sample of lines. */
export function cuttingFor(lines: readonly string[]): Cutting | Declined {
  const forms = commonForms(lines);
  const shapes = new Map<string, boolean>();
  let untold = 0;
  for (const line of lines) {
    const shape = collapsed(shapeOf(line, forms));
    const key = JSON.stringify(shape);
    let isTold = shapes.get(key);
    if (isTold === undefined) shapes.set(key, (isTold = levelOfShape(shape) !== undefined));
    if (!isTold) untold += 1;
  }
  const isWorthwhile = shapes.size * worthwhile <= lines.length && untold * worthwhile <= lines.length;
  return isWorthwhile ? cut(forms) : decline('lines-differ');
}

function commonForms(lines: readonly string[]): readonly LevelForm[] {
  const counted = new Map<string, { readonly form: LevelForm; count: number }>();
  for (const line of lines) {
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

// No client's field is likely to be called so; one that is would only be overwritten while rows are counted.
const before = '__shape_start';
const value = '__shape_level';
const startsAnObject = field('_msg', { kind: 'exact-prefix', text: '{' });

/** The first form that a line has is cut off behind its level, and lines without any are taken as a whole; numbers collapse. */
function cut(forms: readonly LevelForm[]): Cutting {
  const unmatched = exact(value, '');
  const extracting = forms.map(({ prefix, suffix }, index): LogsqlPipe => {
    const pattern = `<plain:${before}>${prefix}<plain:${value}>${suffix}`;
    const condition = and(
      index === 0 ? and() : unmatched,
      isOfObjects(prefix) ? startsAnObject : not(startsAnObject),
    );
    return {
      ...{ kind: 'extract', pattern, from: '_msg', rule: 'overwrite' },
      condition,
    };
  });
  return {
    pipes: [
      ...extracting,
      {
        ...{ kind: 'format', pattern: '<_msg>', as: before, rule: 'overwrite' },
        ...(forms.length === 0 ? {} : { condition: unmatched }),
      },
      { kind: 'collapse_nums', at: before, prettify: false },
    ],
    columns: [before, value],
    toldBy(get) {
      const level = levelOf(get(before) ?? '', get(value) ?? '', forms);
      // A word alone is a line of its level.
      return level === undefined ? undefined : { line: level === '' ? noLevel : level };
    },
  };
}

/** A line that tells no level. */
const noLevel = 'x';

/** Cuts lines both ways: the line is that of the first, the level that of the second. */
export function withLevels(lines: Cutting, levels: Cutting): Cutting {
  return {
    pipes: [...lines.pipes, ...levels.pipes],
    columns: [...lines.columns, ...levels.columns],
    toldBy(get) {
      const [told, level] = [lines.toldBy(get), levels.toldBy(get)];
      if (told === undefined || level === undefined) return undefined;
      return { ...told, level: level.line === noLevel ? unknownLevel : level.line };
    },
  };
}

function levelOf(start: string, level: string, forms: readonly LevelForm[]): string | undefined {
  if (level === '') return levelOfShape({ form: undefined, line: start });
  // Whichever form it was that matched.
  const possible = forms.filter(({ prefix }) => isOfObjects(prefix) === start.startsWith('{'));
  const levels = new Set(possible.map((form) => levelOfShape({ form, before: start, value: level })));
  return levels.size === 1 ? [...levels][0] : undefined;
}

function isOfObjects(prefix: string): boolean {
  return prefix.startsWith('"');
}
