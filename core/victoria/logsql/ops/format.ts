import type { FormatPipe, PackPipe } from '../ast.js';
import { formatDuration } from '../bucket.js';
import { lowerText, upperText } from '../../../logql/template/library/characters.js';
import { parseFormatPattern } from '../extract-pattern.js';
import { formatIPv4 } from '../../../base/ip.js';
import { formatFloatPlain } from '../../../base/time/index.js';
import { parseLogsqlDuration, parsePlain } from '../numbers.js';
import type { RowView } from '../row.js';
import { formatTime, parseUnixTime } from '../literals.js';
import { isListed } from '../build.js';
import type { Operator, PipeContext } from './operator.js';
import { updateOperator } from './update.js';

/** `format "text<field><option:field>" as name`. */
export function formatOperator(pipe: FormatPipe, context: PipeContext, next: Operator): Operator {
  const steps = parseFormatPattern(pipe.pattern);
  const compute = (row: RowView): [string, string][] => {
    let text = '';
    for (const { prefix, field, option } of steps) {
      text += prefix;
      if (field !== '') text += formatOption(option, row.get(field));
    }
    return [[pipe.as, text]];
  };
  return updateOperator(pipe, context, compute, next);
}

function integerOf(value: string): number | undefined {
  const number = parsePlain(value);
  return number !== undefined && Number.isInteger(number) ? number : undefined;
}

/** Applies the option of a placeholder; a value that does not fit it stays unchanged. */
function formatOption(option: string, value: string): string {
  switch (option) {
    case 'q':
      return JSON.stringify(value);
    case 'lc':
      return lowerText(value);
    case 'uc':
      return upperText(value);
    case 'base64encode':
      return Buffer.from(value).toString('base64');
    case 'base64decode':
      return /^[A-Za-z0-9+/]*={0,2}$/.test(value) ? Buffer.from(value, 'base64').toString('utf8') : value;
    case 'hexencode':
      return Buffer.from(value).toString('hex').toUpperCase();
    case 'hexdecode':
      return /^(?:[0-9A-Fa-f]{2})*$/.test(value) ? Buffer.from(value, 'hex').toString('utf8') : value;
    case 'hexnumencode':
      return /^\d{1,20}$/.test(value)
        ? BigInt.asUintN(64, BigInt(value)).toString(16).toUpperCase().padStart(16, '0')
        : value;
    case 'hexnumdecode':
      return /^[0-9A-Fa-f]{1,16}$/.test(value) ? BigInt(`0x${value}`).toString() : value;
    case 'urlencode':
      return encodeURIComponent(value).replaceAll('%20', '+');
    case 'urldecode':
      return decodeUrl(value);
    case 'duration': {
      const ns = integerOf(value);
      return ns === undefined ? value : formatDuration(ns);
    }
    case 'duration_seconds': {
      const ns = parseLogsqlDuration(value);
      return ns === undefined ? value : formatFloatPlain(ns / 1e9);
    }
    case 'ipv4': {
      const address = integerOf(value);
      return address === undefined || address < 0 || address > 0xffffffff ? value : formatIPv4(address);
    }
    case 'time': {
      const ns = parseUnixTime(value);
      return ns === undefined ? value : formatTime(ns);
    }
    default:
      return value;
  }
}

function decodeUrl(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
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
