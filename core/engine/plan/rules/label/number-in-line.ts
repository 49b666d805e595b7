import type { NumberLabelFilter } from '../../../../logql/ast.js';
import { spaceClass } from '../../../../logql/template/strings/characters.js';
import { or, regexp } from '../../../../victoria/logsql/build.js';
import { escaped } from './in-line.js';
import { isDerived, labelRule, rowsWithField } from './label-rule.js';
import { mayPass } from './number-field.js';
import { passingNumbers } from './passing-numbers.js';

export const labelNumberInLine = labelRule({
  id: 'labelNumberInLine',
  construct: '| name > 10 behind | json or | logfmt',
  backend: '(_msg:~"name(\\":|=)(how texts begin that may pass)" or _msg:*"\\u"* or name:* !(name:<=10 ...))',
  verdict: 'superset',
  reason:
    'a value that is taken from a line stands in it behind its key, unless it is spelled with escapes, and a row without the label is dropped; texts that are no plain numbers are kept and marked; of a row without a line `| json` reads the fields; the label may be stored, too',
  example: '{namespace="shop"} | json | status >= 500',
  match: (placed) => {
    const { comparison, scope } = placed;
    if (comparison.kind !== 'number') return undefined;
    const { name } = comparison;
    if (isDerived(name) || scope.isStored(name) || scope.sourceInLine(name) !== 'keys') return undefined;
    // Other characters of a key become underscores, and so do the borders of objects.
    const key = name.slice(name.lastIndexOf('_') + 1);
    const value = valuePattern(comparison);
    if (key === '' || value === undefined) return undefined;
    const lines = regexp('_msg', `${key}${value}`);
    return { comparison, placed, lines: or(lines, escaped) };
  },
  emit: ({ comparison, placed, lines }, names) =>
    or(
      lines,
      rowsWithField(placed, names, (field) => mayPass(field, comparison)),
    ),
});

/** How a line goes on behind a key, of JSON or of logfmt, whose value may pass. */
function valuePattern({ op, value }: NumberLabelFilter): string | undefined {
  const passing = (notFirst: string, end: string): string | undefined =>
    passingNumbers(op, value, { notFirst, end });
  const [quoted, ofJson, ofLogfmt] = [
    passing('', '"'),
    passing(`"${white}`, `,}\\]${white}`),
    passing('"', `\\x{0}-\\x{20}`),
  ];
  if (quoted === undefined) return undefined;
  const behindKey = `${blanks}"${gap}:${gap}`;
  return `(?:(?:${behindKey}|=)"${quoted}|${behindKey}${ofJson}|=${ofLogfmt})`;
}

/** Loki trims these from keys of JSON, also where escapes spell them. */
const blanks = `(?:${spaceClass}|\\\\[fnrt])*`;
const white = ' \\t\\r\\n';
const gap = `[${white}]*`;
