import type { Steps } from '../../base/pace/steps.js';
import { levelNames } from './level-words.js';

/** The text around a level as programs write it: `"level":"info"`, `level=info `. */
export interface LevelForm {
  readonly prefix: string;
  readonly suffix: string;
  /** The name of the level, in lower case. */
  readonly name: string;
  /** A text or a number in a field of a JSON object, or a logfmt pair. Loki finds no level in a number. */
  readonly kind: 'text' | 'number' | 'pair';
}

const names = levelNames.map((name) => name.replaceAll('.', '\\.')).join('|');
const writtenForm = new RegExp(`"(${names})":[ ]?"|(?<![^ ])(${names})=`);
const writtenNumber = new RegExp(`"(${names})":[ ]?(?=[0-9])`);
/** Matches the numbers that a form finds. */
export const levelNumberPattern = '^[0-9]+$';
const levelNumber = new RegExp(levelNumberPattern);

/** The known form in which a line has its level, if any. */
function formOf(line: string): LevelForm | undefined {
  const [prefix, text, pair] = writtenForm.exec(line) ?? [];
  if (prefix === undefined) return numberFormOf(line);
  const name = (text ?? pair ?? '').toLowerCase();
  return pair === undefined
    ? { prefix, suffix: '"', name, kind: 'text' }
    : { prefix, suffix: ' ', name, kind: 'pair' };
}

function numberFormOf(line: string): LevelForm | undefined {
  const [prefix, name = ''] = writtenNumber.exec(line) ?? [];
  return prefix === undefined ? undefined : { prefix, suffix: ',', name: name.toLowerCase(), kind: 'number' };
}

/** The most frequent forms, in descending order, and then those of numbers. */
export function* commonForms(lines: readonly string[], most: number): Steps<readonly LevelForm[]> {
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
  const forms = all.slice(0, most).map(({ form }) => form);
  return [...forms.filter(({ kind }) => kind !== 'number'), ...forms.filter(({ kind }) => kind === 'number')];
}

/** The text in the place of a level in the first of these forms that a line has; undefined if it has none. */
export function valueIn(line: string, forms: readonly LevelForm[]): string | undefined {
  const isObject = line.startsWith('{');
  // Pairs stand between blanks.
  const text = isObject ? line : ` ${line} `;
  for (const { prefix, suffix, kind } of forms) {
    if ((kind !== 'pair') !== isObject) continue;
    const start = kind === 'pair' ? ` ${prefix}` : prefix;
    const at = text.indexOf(start);
    const from = at + start.length;
    const end = at < 0 ? -1 : text.indexOf(suffix, from);
    if (end <= from) continue;
    const value = text.slice(from, end);
    if (kind !== 'number' || levelNumber.test(value)) return value;
  }
  return undefined;
}
