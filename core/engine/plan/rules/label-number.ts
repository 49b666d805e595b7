import type { CompareOp, NumberLabelFilter } from '../../../logql/ast.js';
import { spaceClass } from '../../../logql/template/library/characters.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import {
  and,
  compare,
  field,
  matcher,
  not,
  or,
  present,
  regexp,
  streamMatch,
} from '../../../victoria/logsql/build.js';
import { longDecimalPattern } from '../../../victoria/names/shown-value.js';

/** More digits may be rounded to another number. */
const mostDigits = 15;
/** Columns of which every value is a plain number, by the types that VictoriaLogs gives to blocks of values. */
const numericTypes = ['uint8', 'uint16', 'uint32', 'uint64', 'int64'];
/** Longer decimals may be shown otherwise than they are stored. */
const plainNumber = '^-?[0-9]{1,15}([.][0-9]{1,15})?$';
const plain = new RegExp(plainNumber);

/** Rows where a field is a number that passes a comparison, or a text that is not a plain number, which Loki keeps and marks. */
export function mayPass(name: string, { op, value }: NumberLabelFilter): LogsqlFilter {
  const text = String(value);
  if (!plain.test(text) || Math.abs(value) >= 10 ** mostDigits) return present(name);
  const isPlain = or(
    ...numericTypes.map((type) => field(name, { kind: 'value-type', type })),
    and(regexp(name, plainNumber), not(regexp(name, longDecimalPattern))),
  );
  const ofRow = and(present(name), ...failing(name, op, text).map((fails) => not(and(fails, isPlain))));
  // A row may hide the value of its stream.
  return or(ofRow, streamMatch(matcher(name, '!=', '')));
}

/** Conditions, each of which means for a number that it does not pass. */
function failing(name: string, op: CompareOp, value: string): readonly LogsqlFilter[] {
  switch (op) {
    case '>':
      return [compare(name, '<=', value)];
    case '>=':
      return [compare(name, '<', value)];
    case '<':
      return [compare(name, '>=', value)];
    case '<=':
      return [compare(name, '>', value)];
    case '==':
      return [compare(name, '<', value), compare(name, '>', value)];
    case '!=':
      return [];
  }
}

/** A regular expression for the rest of a line behind a key, of JSON or of logfmt, whose value may pass. */
export function valuePattern({ op, value }: NumberLabelFilter): string | undefined {
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

/** Characters, as in a class of a pattern, with which no text begins, and which may follow one. */
interface TextBounds {
  readonly notFirst: string;
  readonly end: string;
}

/**
 * A pattern of how texts begin that pass a comparison of numbers, and of how all texts begin that are no plain decimal number, which are
 * kept with an error. Others may match, too. Undefined where nearly all do.
 */
export function passingNumbers(
  op: CompareOp,
  value: number,
  { notFirst, end }: TextBounds,
): string | undefined {
  const passing = plainNumbers(op, value);
  const odd = [
    anyBut(`0-9${notFirst}`),
    '0[0-9]',
    `[0-9]{${mostDigits + 1}}`,
    `[0-9.]+${anyBut(`0-9.${end}`)}`,
    '[0-9]+[.][0-9]*[.]',
  ];
  return passing && `(?:${[...odd, ...passing].join('|')})`;
}

/**
 * A character that is none of these. The backend prints each pattern, for which Go looks whether a class tells capitals from other letters:
 * in one with nearly all characters it finds the `a` without an `A` at once, and otherwise tries a hundred thousand, which takes 8 ms.
 */
function anyBut(characters: string): string {
  return `(?:[^A${characters}]|A.?)`;
}

/** Prefixes of the plain numbers that pass. */
function plainNumbers(op: CompareOp, value: number): readonly string[] | undefined {
  if (!(Math.abs(value) < 10 ** mostDigits - 1)) return undefined;
  const floor = Math.floor(value);
  const isWhole = floor === value;
  // A number is at least its whole part, and less than the next.
  const whole = (texts: readonly string[]): readonly string[] => texts.map((text) => `${text}(?:[^0-9]|$)`);
  switch (op) {
    case '>':
      return value < 0 ? undefined : [...from(floor + 1), `${floor}[.]`];
    case '>=':
      if (value <= 0) return undefined;
      return isWhole ? from(floor) : [...from(floor + 1), `${floor}[.]`];
    case '<':
      return whole(below(isWhole ? floor : floor + 1));
    case '<=':
      return whole(below(floor + 1));
    case '==':
      return value < 0 ? [] : whole([String(floor)]);
    case '!=':
      return undefined;
  }
}

/** Whole numbers from 0 on that are less. */
function below(limit: number): readonly string[] {
  if (limit <= 0) return [];
  const digits = String(limit);
  const shorter = digits.length === 1 ? [] : ['[0-9]'];
  if (digits.length > 2) shorter.push(`[1-9][0-9]{1,${digits.length - 2}}`);
  const least = digits.length === 1 ? 0 : 1;
  return [...shorter, ...withOneChanged(digits, (digit, index) => [index === 0 ? least : 0, digit - 1])];
}

/** Prefixes of the whole numbers from a limit on. */
function from(limit: number): readonly string[] {
  const digits = String(limit);
  const longer = `[1-9][0-9]{${digits.length}}`;
  // The last digit may be the same.
  return [
    ...withOneChanged(digits, (digit, index) => [digit + (index < digits.length - 1 ? 1 : 0), 9]),
    longer,
  ];
}

/** Numbers of as many digits, of which the first that differs is in a range. */
function withOneChanged(
  digits: string,
  rangeOf: (digit: number, index: number) => readonly [least: number, most: number],
): readonly string[] {
  return Array.from(digits, Number).flatMap((digit, index) => {
    const [least, most] = rangeOf(digit, index);
    if (least > most) return [];
    const rest = digits.length - index - 1;
    return [`${digits.slice(0, index)}[${least}-${most}]${'[0-9]'.repeat(rest)}`];
  });
}
