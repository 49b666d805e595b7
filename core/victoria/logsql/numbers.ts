const durationUnits: ReadonlyMap<string, number> = new Map([
  ['y', 365 * 86_400e9],
  ['w', 7 * 86_400e9],
  ['d', 86_400e9],
  ['h', 3_600e9],
  ['m', 60e9],
  ['s', 1e9],
  ['ms', 1e6],
  ['µs', 1e3],
  ['ns', 1],
]);
const sizeUnits: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['B', 1],
  ['K', 1e3],
  ['KB', 1e3],
  ['M', 1e6],
  ['MB', 1e6],
  ['G', 1e9],
  ['GB', 1e9],
  ['T', 1e12],
  ['TB', 1e12],
  ['Ki', 2 ** 10],
  ['KiB', 2 ** 10],
  ['Mi', 2 ** 20],
  ['MiB', 2 ** 20],
  ['Gi', 2 ** 30],
  ['GiB', 2 ** 30],
  ['Ti', 2 ** 40],
  ['TiB', 2 ** 40],
]);

const plainNumber = /^-?(?:0|[1-9_][0-9_]*)(?:\.[0-9_]+)?$/;
const parts =
  /([0-9][0-9_]*(?:\.[0-9_]+)?)(KiB|MiB|GiB|TiB|Ki|Mi|Gi|Ti|KB|MB|GB|TB|ms|ns|µs|[BKMGTywdhms]|$)/y;
const likelyNumber = /^[+-]?(?:\.?[0-9]|inf(?:inity)?$)/i;
const goFloat = /^[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf(?:inity)?)$/i;
const goInteger = /^([+-]?)(0[xX][0-9A-Fa-f_]+|0[bB][01_]+|0[oO]?[0-7_]+|[1-9][0-9_]*)$/;

/** Parses a plain decimal number whose digits may be grouped by `_`; no `+`, no exponent, no leading zero. */
export function parsePlain(text: string): number | undefined {
  if (text.length > 27 || !plainNumber.test(text)) return undefined;
  if (!text.includes('_')) return Number(text);
  const plain = text.replaceAll('_', '');
  // Without any digit, as in `-_` or `_._`, VictoriaLogs reads zero.
  return /[0-9]/.test(plain) ? Number(plain) : 0;
}

function sumParts(text: string, units: ReadonlyMap<string, number>): number | undefined {
  const negative = text.startsWith('-');
  let total = 0;
  let at = negative ? 1 : 0;
  if (at === text.length) return undefined;
  while (at < text.length) {
    parts.lastIndex = at;
    const match = parts.exec(text);
    if (match === null) return undefined;
    const number = parsePlain(match[1] ?? '');
    const unit = units.get(match[2] ?? '');
    if (number === undefined || unit === undefined) return undefined;
    if (match[2] === '' && !Number.isInteger(number)) return undefined;
    total += Math.trunc(number * unit);
    at = parts.lastIndex;
  }
  return negative ? -total : total;
}

/** Parses a duration as LogsQL writes it, such as `1h30m` or `-1.5s` to nanoseconds; a number needs a unit. */
export function parseLogsqlDuration(text: string): number | undefined {
  return sumParts(text, durationUnits);
}

/** Parses a duration to exact nanoseconds. */
export function parseDurationNs(text: string): bigint | undefined {
  const whole = /^(-?\d+)(ns|s)$/.exec(text);
  if (whole !== null) return BigInt(whole[1] ?? '0') * (whole[2] === 's' ? 1_000_000_000n : 1n);
  const ns = parseLogsqlDuration(text);
  return ns === undefined ? undefined : BigInt(ns);
}

/** Parses a size such as `5KiB` or `1.5MB` to bytes. */
export function parseSize(text: string): number | undefined {
  return sumParts(text, sizeUnits);
}

/**
 * Parses everything VictoriaLogs treats as a number: decimals, durations (ns), sizes, exponents, hexadecimal, infinities, and a lone `-`,
 * common in logs, as zero.
 */
export function parseNumber(text: string): number | undefined {
  if (text === '') return undefined;
  if (text === '-') return 0;
  const code = text.charCodeAt(0);
  // A number starts with a digit, a sign, the point, "_" or the "i" of "inf".
  if (!(
    (code >= 48 && code <= 57) ||
    code === 45 ||
    code === 43 ||
    code === 46 ||
    code === 95 ||
    code === 73 ||
    code === 105
  )) {
    return undefined;
  }
  return parsePlain(text) ?? parseLogsqlDuration(text) ?? parseSize(text) ?? parseGoNumber(text);
}

function parseGoNumber(text: string): number | undefined {
  if (!likelyNumber.test(text)) return undefined;
  if (goFloat.test(text)) {
    if (/inf/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  const integer = goInteger.exec(text);
  if (integer === null) return undefined;
  const [, sign = '', digits = ''] = integer;
  const plain = digits.replaceAll('_', '');
  const value = Number(/^0[0-7]/.test(plain) ? `0o${plain.slice(1)}` : plain);
  if (!Number.isFinite(value) || value > 2 ** 63) return undefined;
  return sign === '-' ? -value : value;
}

/** Grouping reports unsigned integers without their digit separators: `1_000` as `1000`. */
export function groupedValue(text: string): string {
  const code = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  if (!(code >= 48 && code <= 57) && code !== 95) return text;
  if (!(last >= 48 && last <= 57) && last !== 95) return text;
  return text.includes('_') && /^[1-9_][0-9_]*$/.test(text) ? text.replaceAll('_', '') || '0' : text;
}
