import type { Steps } from '../../base/pace/steps.js';
import { levelNames } from './level-words.js';

/** The text around a level as programs write it: `"level":"info"`, `level=info `. */
export interface LevelForm {
  readonly prefix: string;
  readonly suffix: string;
  /** The name of the level, in lower case. */
  readonly name: string;
  /** True for a field of a JSON object, false for a logfmt pair. */
  readonly isField: boolean;
}

const names = levelNames.map((name) => name.replaceAll('.', '\\.')).join('|');
const writtenForm = new RegExp(`"(${names})":[ ]?"|(?<![^ ])(${names})=`);

/** The known form in which a line has its level, if any. */
function formOf(line: string): LevelForm | undefined {
  const [prefix, field, pair] = writtenForm.exec(line) ?? [];
  if (prefix === undefined) return undefined;
  const isField = pair === undefined;
  return { prefix, suffix: isField ? '"' : ' ', name: (field ?? pair ?? '').toLowerCase(), isField };
}

/** The most frequent forms, in descending order. */
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
  return all.slice(0, most).map(({ form }) => form);
}

/** The text in the place of a level in the first of these forms that a line has; undefined if it has none. */
export function valueIn(line: string, forms: readonly LevelForm[]): string | undefined {
  const isObject = line.startsWith('{');
  // Pairs stand between blanks.
  const text = isObject ? line : ` ${line} `;
  for (const { prefix, suffix, isField } of forms) {
    if (isField !== isObject) continue;
    const start = isField ? prefix : ` ${prefix}`;
    const at = text.indexOf(start);
    const from = at + start.length;
    const end = at < 0 ? -1 : text.indexOf(suffix, from);
    if (end > from) return text.slice(from, end);
  }
  return undefined;
}
