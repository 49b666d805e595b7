import { lowerText } from '../../../logql/template/library/characters.js';
import type { FormatPipe, PackPipe } from '../ast.js';
import { isListed } from '../build.js';
import { parseFormatPattern } from '../extract-pattern.js';
import type { RowView } from '../row.js';
import type { Operator, PipeContext } from './operator.js';
import { updateOperator } from './update.js';

/** `format "text<field><option:field>" as name`. */
export function formatOperator(
  pipe: FormatPipe,
  context: PipeContext,
  next: Operator,
  applyOption = formatOption,
): Operator {
  const steps = parseFormatPattern(pipe.pattern);
  const compute = (row: RowView): [string, string][] => {
    let text = '';
    for (const { prefix, field, option } of steps) {
      text += prefix;
      if (field !== '') text += applyOption(option, row.get(field));
    }
    return [[pipe.as, text]];
  };
  return updateOperator(pipe, context, compute, next);
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

/** `pack_json`. */
export function packOperator(pipe: PackPipe, context: PipeContext, next: Operator): Operator {
  return packingOperator(pipe, packJson, context, next);
}

/** Writes the non-empty columns as one text. */
export function packingOperator(
  { fields, as }: Omit<PackPipe, 'kind'>,
  pack: (pairs: readonly (readonly [string, string])[]) => string,
  context: PipeContext,
  next: Operator,
): Operator {
  const compute = (row: RowView): [string, string][] => {
    const pairs: [string, string][] = [];
    for (const name of row.fieldNames()) {
      const value = row.get(name);
      if (value !== '' && (fields.length === 0 || isListed(fields, name))) pairs.push([name, value]);
    }
    return [[as, pack(pairs)]];
  };
  return updateOperator({}, context, compute, next);
}

/** Writes fields as a JSON object with text values. VictoriaLogs escapes two more characters than JSON.stringify. */
export function packJson(pairs: readonly (readonly [string, string])[]): string {
  const text = pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',');
  return `{${text.replaceAll('<', String.raw`\u003c`).replaceAll("'", String.raw`\u0027`)}}`;
}
