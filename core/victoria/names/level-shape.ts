import type { Steps } from '../../base/pace/steps.js';
import { isObject, isObjectStart, levelFromLine } from './level.js';
import { levelField } from './level-object.js';
import { levelPair } from './level-pairs.js';
import { levelNames, levelOfWords, normalLevel } from './level-words.js';

/** The text around a level as programs write it: `"level":"info"`, `level=info `. */
export interface LevelForm {
  readonly prefix: string;
  readonly suffix: string;
}

interface LineStart {
  readonly form: LevelForm;
  readonly before: string;
  readonly value: string;
}

/** The common part of a group of lines: the text before a level of this form with the level, or the whole line. */
export type LineShape = LineStart | { readonly form: undefined; readonly line: string };

// `\<N>` may stand for `\beef`, which is an escape, or for `\12`, which is not.
const hidesEscape = '\\<N>';

/** The level of a line without one (docs/protocol/answers.md#log-entries). */
const noLevel = '';

/**
 * The level of all lines of a class: the empty text for no level, undefined if the rest of the line decides. Numbers may be collapsed to
 * `<N>`, which is neither part of a level word or name nor ends one, like digits.
 */
export function levelOfShape(shape: LineShape): string | undefined {
  return shape.form === undefined ? levelOfLines(shape.line) : levelOfStarts(shape);
}

/** The level of lines that differ only in numbers. */
function levelOfLines(line: string): string | undefined {
  if (line.includes(hidesEscape)) return undefined;
  if (!isObject(line)) return levelFromLine(line) ?? noLevel;
  const { value, trustsNumber } = levelField(line, true);
  const asText = levelOfWords(line);
  const asObject = normalLevel(value ?? '') ?? asText;
  return trustsNumber && asObject !== asText ? undefined : (asObject ?? noLevel);
}

/** The level of lines with the same start. */
function levelOfStarts({ form, before, value }: LineStart): string | undefined {
  const start = `${before}${form.prefix}${value}${form.suffix}`;
  if (start.includes(hidesEscape)) return undefined;
  const word = levelOfWords(start);
  const pair = levelPair(start);
  if (!pair.isFinal) return undefined;
  const asText = normalLevel(pair.value ?? '') ?? word;
  if (asText === undefined || !isObjectStart(before)) return asText;
  // If the line ends with a closing brace it is an object, otherwise text.
  const field = levelField(start, true);
  if (field.value === undefined || (field.trustsNumber && word !== asText)) return undefined;
  return (normalLevel(field.value) ?? word) === asText ? asText : undefined;
}

const names = levelNames.map((name) => name.replaceAll('.', '\\.')).join('|');
const writtenForm = new RegExp(`"(?:${names})":[ ]?"|(?<![^ ])(?:${names})=`);

/** The known form in which a line has its level, if any. */
export function formOf(line: string): LevelForm | undefined {
  const prefix = writtenForm.exec(line)?.[0];
  if (prefix === undefined) return undefined;
  return { prefix, suffix: prefix.endsWith('=') ? ' ' : '"' };
}

/** The most frequent forms, in descending order, that at least this number of lines have. */
export function* commonForms(lines: readonly string[], most: number, least = 1): Steps<readonly LevelForm[]> {
  const counted = new Map<string, { readonly form: LevelForm; count: number }>();
  for (const line of lines) {
    yield;
    const form = formOf(line);
    if (form === undefined) continue;
    const known = counted.get(form.prefix);
    if (known === undefined) counted.set(form.prefix, { form, count: 1 });
    else known.count += 1;
  }
  const all = [...counted.values()].filter(({ count }) => count >= least).sort((a, b) => b.count - a.count);
  return all.slice(0, most).map(({ form }) => form);
}

/** Cuts a line after the first form that it contains. Numbers are kept. */
export function shapeOf(line: string, forms: readonly LevelForm[]): LineShape {
  for (const form of forms) {
    const at = line.indexOf(form.prefix);
    const from = at + form.prefix.length;
    const end = at < 0 ? -1 : line.indexOf(form.suffix, from);
    if (end > from) return { form, before: line.slice(0, at), value: line.slice(from, end) };
  }
  return { form: undefined, line };
}
