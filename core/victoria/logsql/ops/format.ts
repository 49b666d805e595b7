import { lowerText } from '../../../logql/template/library/characters.js';
import type { FormatPipe, PackPipe } from '../ast.js';
import { isListed } from '../build.js';
import { parseFormatPattern } from '../extract-pattern.js';
import type { Columns, ColumnsMaker } from './update.js';

/** `format "text<field><option:field>" as name`. */
export function formatter({ pattern, as }: FormatPipe, applyOption = formatOption): ColumnsMaker {
  const steps = parseFormatPattern(pattern);
  return (row) => {
    let text = '';
    for (const { prefix, field, option } of steps) {
      text += prefix;
      if (field !== '') text += applyOption(option, row.get(field));
    }
    return [[as, text]];
  };
}

/** Applies the option of a placeholder. */
export function formatOption(option: string, value: string): string {
  switch (option) {
    case 'q':
      return JSON.stringify(value);
    case 'lc':
      return lowerText(value);
    default:
      return value;
  }
}

/** Writes the non-empty columns as one text. */
export function packer(
  { fields, as }: Omit<PackPipe, 'kind'>,
  pack: (columns: Columns) => string,
): ColumnsMaker {
  return (row) => {
    const columns: [string, string][] = [];
    for (const name of row.fieldNames()) {
      const value = row.get(name);
      if (value !== '' && (fields.length === 0 || isListed(fields, name))) columns.push([name, value]);
    }
    return [[as, pack(columns)]];
  };
}

/** Writes fields as a JSON object with text values. VictoriaLogs escapes two more characters than JSON.stringify. */
export function packJson(columns: Columns): string {
  const text = columns.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',');
  return `{${text.replaceAll('<', String.raw`\u003c`).replaceAll("'", String.raw`\u0027`)}}`;
}
