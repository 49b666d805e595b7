import { isObjectStart, levelField, levelFromLine, levelPair, levelWord } from './level-line.js';
import { levelNames, normalLevel } from './level-words.js';

/** The text around a level as programs write it: `"level":"info"`, `level=info `. */
export interface LevelForm {
  readonly prefix: string;
  readonly suffix: string;
}

/** What a group of lines has in common: the text before a level of this form and the level, or the whole line. */
export type LineShape =
  | { readonly form: LevelForm; readonly before: string; readonly value: string }
  | { readonly form: undefined; readonly line: string };

// Collapsing numbers creates a word boundary in one case only: a number followed by a T, as in 12TRACE.
const createsBoundary = /<N>T(?:race|rc)/i;

/** The level of a line without one (docs/protocol/answers.md#log-entries). */
const noLevel = '';

/**
 * The level of all lines of a shape; the empty text means no level, undefined that it depends on the rest of the line. Numbers in shapes
 * may be collapsed to `<N>`: level words and names have no digits, and brackets, quotes and spaces stay.
 */
export function levelOfShape(shape: LineShape): string | undefined {
  if (shape.form === undefined) {
    return createsBoundary.test(shape.line) ? undefined : (levelFromLine(shape.line) ?? noLevel);
  }
  const { form, before, value } = shape;
  if (createsBoundary.test(before)) return undefined;
  const start = `${before}${form.prefix}${value}${form.suffix}`;
  const word = levelWord.exec(start)?.[0];
  const ofPair = firstPair(start);
  if (ofPair === 'open') return undefined;
  const asText = normalLevel(ofPair.value ?? '') ?? normalLevel(word ?? '');
  if (asText === undefined || !isObjectStart(before)) return asText;
  // With a closing bracket at its end the line is an object, otherwise text.
  const field = levelField(start);
  if (field?.rank !== 0) return undefined;
  const asObject = normalLevel(field.value) ?? normalLevel(word ?? '');
  return asObject === asText ? asText : undefined;
}

/** The pair that decides the level, or that none does; `open` when a later pair might. */
function firstPair(start: string): { readonly value: string | undefined } | 'open' {
  const value = levelPair(start);
  const followed = [` level=${probe} `, `" level=${probe} `].map((more) => levelPair(start + more));
  return followed.includes(probe) ? 'open' : { value };
}
const probe = 'anything';

const names = levelNames.map((name) => name.replaceAll('.', '\\.')).join('|');
const writtenForm = new RegExp(`"(?:${names})":[ ]?"|(?<![^ ])(?:${names})=`);

/** The known form in which a line has its level, if any. */
export function formOf(line: string): LevelForm | undefined {
  const prefix = writtenForm.exec(line)?.[0];
  if (prefix === undefined) return undefined;
  return { prefix, suffix: prefix.endsWith('=') ? ' ' : '"' };
}

/** Cuts a line after the first of the forms it contains. Numbers are kept. */
export function shapeOf(line: string, forms: readonly LevelForm[]): LineShape {
  for (const form of forms) {
    const at = line.indexOf(form.prefix);
    const from = at + form.prefix.length;
    const end = at < 0 ? -1 : line.indexOf(form.suffix, from);
    if (end > from) return { form, before: line.slice(0, at), value: line.slice(from, end) };
  }
  return { form: undefined, line };
}
