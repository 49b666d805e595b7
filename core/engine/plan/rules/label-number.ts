import type { CompareOp } from '../../../logql/ast.js';
import { type OrderedComparison, orderOf } from '../../../logql/pipeline/label-comparison.js';
import { spaceClass } from '../../../logql/template/library/characters.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import {
  and,
  compare,
  integerTypes,
  matcher,
  not,
  ofTypes,
  or,
  present,
  regexp,
  streamMatch,
} from '../../../victoria/logsql/build.js';
import { longDecimalPattern } from '../../../victoria/names/shown-value.js';

/** Maximum number of digits and points; numbers with more may be rounded. */
const mostDigits = 15;
/** Matches plain decimal numbers. Longer ones may be shown differently from how they are stored. */
const plainNumber = '^-?[0-9]{1,15}([.][0-9]{1,15})?$';
const plain = new RegExp(plainNumber);

/**
 * Matches rows where a field is a number that passes a comparison, or a text that is not a plain number, which Loki keeps and marks with an
 * error. All durations and sizes match.
 */
export function mayPass(name: string, filter: OrderedComparison): LogsqlFilter {
  if (filter.kind !== 'number') return present(name);
  const { op, value } = filter;
  const text = String(value);
  if (!plain.test(text) || Math.abs(value) >= 10 ** mostDigits) return present(name);
  const isPlain = or(
    ofTypes(name, integerTypes),
    and(regexp(name, plainNumber), not(regexp(name, longDecimalPattern))),
  );
  const ofRow = and(
    present(name),
    ...failing[op].map((fails) => not(and(compare(name, fails, text), isPlain))),
  );
  // A row may override the value of its stream.
  return or(ofRow, streamMatch(matcher(name, '!=', '')));
}

/** The comparisons each of which proves that a number does not pass. */
const failing: Readonly<Record<CompareOp, readonly Exclude<CompareOp, '==' | '!='>[]>> = {
  '>': ['<='],
  '>=': ['<'],
  '<': ['>='],
  '<=': ['>'],
  '==': ['<', '>'],
  '!=': [],
};

/** A way to write numbers: decimal digits with at most one point, and a unit. */
interface Notation {
  /** Patterns of units, and their sizes relative to the limit of a comparison. Numbers with other units count as odd. */
  readonly units: readonly (readonly [pattern: string, size: number])[];
  /** Maximum number of digits before the point; with more, a number may be too large for Loki. */
  readonly mostDigits: number;
  /** A pattern for the characters after the digits that show that the text has none of these units. */
  readonly notUnit: (end: string) => string;
}

const letters = 'kKmMgG';

const notations: Readonly<Record<OrderedComparison['kind'], Notation>> = {
  number: { units: [['', 1]], mostDigits, notUnit: (end) => anyBut(`0-9.${end}`) },
  /** Go's durations; a plain number is none. */
  duration: {
    units: [
      ['[uµμ]s', 1e3],
      ['ms', 1e6],
      ['s', 1e9],
    ],
    mostDigits: 9,
    notUnit: (end) => `(?:$|${anyBut('0-9.uµμms')}|[uµμm](?:$|${anyBut('s')})|[uµμm]?s${anyBut(end)})`,
  },
  bytes: {
    units: [
      ['[bB]?', 1],
      ...['[kK]', '[mM]', '[gG]'].flatMap((letter, index): Notation['units'] => [
        [`${letter}[bB]?`, 1000 ** (index + 1)],
        [`${letter}[iI][bB]?`, 1024 ** (index + 1)],
      ]),
    ],
    mostDigits: 10,
    notUnit: (end) => {
      const afterLetter = `[${letters}](?:${anyBut(`iIbB${end}`)}|[iI]${anyBut(`bB${end}`)})`;
      return `(?:${anyBut(`0-9.bB${letters}${end}`)}|${afterLetter}|(?:[${letters}][iI]?)?[bB]${anyBut(end)})`;
    },
  },
};

/** A regular expression for the text after a key, in JSON or logfmt, that matches if the value may pass. */
export function valuePattern(filter: OrderedComparison): string | undefined {
  const passing = (notFirst: string, end: string): string | undefined =>
    passingNumbers(filter, { notFirst, end });
  const [quoted, ofJson, ofLogfmt] = [
    passing('', '"'),
    passing(`"${white}`, `,}\\]${white}`),
    passing('"', `\\x{0}-\\x{20}`),
  ];
  if (quoted === undefined) return undefined;
  const behindKey = `${blanks}"${gap}:${gap}`;
  return `(?:(?:${behindKey}|=)"${quoted}|${behindKey}${ofJson}|=${ofLogfmt})`;
}

/** Blanks, plain or escaped, which Loki trims from JSON keys. */
const blanks = `(?:${spaceClass}|\\\\[fnrt])*`;
const white = ' \\t\\r\\n';
const gap = `[${white}]*`;

/** Character classes (in pattern syntax) that delimit a text: characters that cannot start it, and characters that may follow it. */
interface TextBounds {
  readonly notFirst: string;
  readonly end: string;
}

/**
 * A pattern for the start of texts that pass a comparison, and for the start of all texts that Loki cannot compare, which are kept with an
 * error. It may match other texts, too. Undefined if nearly all texts match.
 */
export function passingNumbers(filter: OrderedComparison, { notFirst, end }: TextBounds): string | undefined {
  const notation = notations[filter.kind];
  const { limit } = orderOf(filter);
  const passing = notation.units.map(([unit, size]) =>
    passingDigits(filter.op, limit, size)?.map((digits) => `${digits}${unit}(?:$|[${end}])`),
  );
  const odd = [
    anyBut(`0-9${notFirst}`),
    '0[0-9]',
    // May be rounded to the next number, or be too large.
    `[0-9.]{${mostDigits + 1}}`,
    `[0-9]{${notation.mostDigits + 1}}`,
    `[0-9.]+${notation.notUnit(end)}`,
    '[0-9]+[.][0-9]*[.]',
  ];
  const isKnown = passing.every((patterns) => patterns !== undefined);
  return isKnown ? `(?:${[...odd, ...passing.flat()].join('|')})` : undefined;
}

/**
 * Any character except these. The backend prints each pattern, for which Go checks whether a class is case-sensitive. In a class of nearly
 * all characters it finds the `a` without an `A` at once; otherwise it tries a hundred thousand characters, which takes 8 ms.
 */
function anyBut(characters: string): string {
  return `(?:[^A${characters}]|A.?)`;
}

const anyRest = '[0-9.]*';
const anyFraction = '(?:[.][0-9]*)?';

/** Patterns of the numbers of units of this size that pass; undefined if nearly all do. */
function passingDigits(op: CompareOp, limit: number, size: number): readonly string[] | undefined {
  if (!(Math.abs(limit) < 10 ** mostDigits - 1)) return undefined;
  const rest = limit % size;
  const isWhole = rest === 0;
  const floor = (limit - rest) / size - (rest < 0 ? 1 : 0);
  // A number is at least its integer part, and less than the next integer.
  const above = [...from(floor + 1), `${floor}[.]`].map((text) => `${text}${anyRest}`);
  const whole = (texts: readonly string[]): readonly string[] => texts.map((text) => `${text}${anyFraction}`);
  switch (op) {
    case '>':
      return limit < 0 ? undefined : above;
    case '>=':
      if (limit <= 0) return undefined;
      return isWhole ? from(floor).map((text) => `${text}${anyRest}`) : above;
    case '<':
      return whole(below(isWhole ? floor : floor + 1));
    case '<=':
      return whole(below(floor + 1));
    case '==':
      return limit < 0 ? [] : whole([String(floor)]);
    case '!=':
      return undefined;
  }
}

/** Prefixes of the non-negative integers below a limit. */
function below(limit: number): readonly string[] {
  if (limit <= 0) return [];
  const digits = String(limit);
  const shorter = digits.length === 1 ? [] : ['[0-9]'];
  if (digits.length > 2) shorter.push(`[1-9][0-9]{1,${digits.length - 2}}`);
  const least = digits.length === 1 ? 0 : 1;
  return [...shorter, ...withOneChanged(digits, (digit, index) => [index === 0 ? least : 0, digit - 1])];
}

/** Prefixes of the integers from a limit on. */
function from(limit: number): readonly string[] {
  const digits = String(limit);
  const longer = `[1-9][0-9]{${digits.length}}`;
  // The last digit may be equal.
  return [
    ...withOneChanged(digits, (digit, index) => [digit + (index < digits.length - 1 ? 1 : 0), 9]),
    longer,
  ];
}

/** Numbers with the same number of digits whose first differing digit is in a range. */
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
