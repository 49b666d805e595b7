import { compileMeaning, type FilterTest, labelMeaning } from '../../../../logql/pipeline/filter-test.js';
import {
  type LabelComparison,
  type OrderedComparison,
  orderOf,
  passesLimit,
} from '../../../../logql/pipeline/label-comparison.js';
import { boundsOfIPv4, compileIpFilter } from '../../../../logql/pipeline/ip-matcher.js';
import type { IpLabelFilter } from '../../../../logql/ast.js';
import { Meter } from '../../../../logql/pipeline/work-line.js';
import { matchingText } from '../../../../logql/regexp/match-text.js';
import { parseRegExp } from '../../../../logql/regexp/parse.js';
import { formatFloatPlain } from '../../../../base/time/index.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../../victoria/logsql/ast.js';
import {
  and,
  compare,
  exact,
  formatInto,
  integerTypes,
  ipv4Range,
  not,
  ofTypes,
  or,
  isSet,
  regexp,
  substring,
} from '../../../../victoria/logsql/build.js';
import { compileFilter, type RowTest } from '../../../../victoria/logsql/eval/filter.js';
import { MapRow } from '../../../../victoria/logsql/row.js';
import { longDecimalPattern } from '../../../../victoria/names/shown-value.js';
import { wholeLinePattern } from '../../../plan/backend-pattern.js';

/** Values with the same outcome in each comparison of a label. */
export interface ValueClass {
  /** A value of the class. */
  readonly value: string;
  /** Matches other values of the class, but not all of them. */
  readonly filter: (column: string) => LogsqlFilter;
  readonly has: (value: string) => boolean;
}

/** Classes of values; values that are in none of them have an outcome of their own, or none that the backend can tell. */
export function classesOf(comparisons: readonly LabelComparison[]): readonly ValueClass[] {
  const tests = comparisons.map(testOf);
  const found = new Map<string, ValueClass>();
  for (const value of new Set(tests.flatMap((test) => test?.candidates ?? []))) {
    const proofs = tests.map((test) => test?.proofFor(value));
    if (!plainText.test(value) || proofs.includes(undefined)) continue;
    const known = proofs.flatMap((proof) => proof ?? []);
    const key = JSON.stringify(known.map(({ key: outcome }) => outcome));
    if (found.has(key)) continue;
    const filter = (column: string): LogsqlFilter => and(...known.map((proof) => proof.filter(column)));
    let test: RowTest | undefined;
    found.set(key, {
      ...{ value, filter },
      has: (other) => (test ??= compileFilter(filter('value')))(new MapRow(new Map([['value', other]]))),
    });
  }
  return [...found.values()];
}

/** The value of the class of a value; the value itself if it is in none. */
export function classValue(value: string, classes: readonly ValueClass[]): string {
  return classes.find(({ has }) => has(value))?.value ?? value;
}

/** Replaces the values of a column by one value for each class. */
export function byOutcome(column: string, classes: readonly ValueClass[]): readonly LogsqlPipe[] {
  return classes.map(({ value, filter }) => formatInto(column, value, filter(column)));
}

/** Values that every parser reads as they are written, and that need no escapes in a pattern of the backend. */
const plainText = /^[A-Za-z0-9_./:@+-]+$/;

/** Proves the outcome of a comparison for values like one of them. */
interface Proof {
  /** Identifies the outcome. */
  readonly key: string;
  readonly filter: (column: string) => LogsqlFilter;
}

interface OutcomeTest {
  /** Values with different outcomes. */
  readonly candidates: readonly string[];
  /** Undefined if the backend cannot tell the outcome for a value. */
  proofFor(value: string): Proof | undefined;
}

function testOf(comparison: LabelComparison): OutcomeTest | undefined {
  switch (comparison.kind) {
    case 'string':
      return textTest(comparison);
    case 'number':
    case 'duration':
    case 'bytes':
      return sizeTest(comparison);
    case 'ip':
      return addressTest(comparison);
  }
}

/** Numbers that the backend and Loki read alike, except for a rounding error. */
interface Notation {
  readonly pattern: string;
  /** The text of a number without a unit, and of one with the unit that Loki needs. */
  readonly unit: string;
  readonly least: number;
  /** The distance from a limit within which rounding may matter. */
  readonly margin: (limit: number) => number;
}

const relativeError = 1e-12;
const fewDigits = '[0-9]{1,9}([.][0-9]{1,6})?';
const notations: Readonly<Record<OrderedComparison['kind'], Notation>> = {
  number: { pattern: `^-?${fewDigits}$`, unit: '', least: -1e9, margin: () => 5e-7 },
  duration: {
    pattern: '^([0-9]{1,4}h)?([0-9]{1,4}m)?([0-9]{1,6}([.][0-9]{1,9})?([nmµ]?s))?$',
    unit: 'ns',
    least: 0,
    margin: (limit) => 2 + limit * relativeError,
  },
  bytes: {
    pattern: `^${fewDigits}([kKMG]?B|[KMG]iB)?$`,
    unit: 'B',
    least: 0,
    margin: (limit) => 2 + limit * relativeError,
  },
};
/** Limits beyond this are not compared, because digits get lost. */
const maxLimit = { number: 1e9, duration: 1e15, bytes: 1e15 };

/** A number that is farther from the limit than rounding errors is on one side of it, and one that is written like the limit is equal. */
function sizeTest(comparison: OrderedComparison): OutcomeTest | undefined {
  const { limit, convert } = orderOf(comparison);
  const passes = passesLimit(comparison.op, limit);
  const { pattern, unit, least, margin } = notations[comparison.kind];
  if (!(limit >= least && limit < maxLimit[comparison.kind])) return undefined;
  const isLarge = Math.abs(limit) >= 10;
  const distance = Math.max(Math.abs(limit) / 1000, unit !== '' ? 10 : isLarge ? 1 : 0.001);
  return {
    candidates: [limit - distance, limit + distance]
      .map((value) => (unit !== '' || isLarge ? Math.round(value) : value))
      .filter((value) => value >= least)
      .map((value) => formatFloatPlain(value) + unit),
    proofFor(value) {
      const number = convert(value);
      if (typeof number === 'string' || Math.abs(number - limit) <= margin(limit)) return undefined;
      const isPassed = passes(number);
      const isLike = (other: number): boolean => passes(other) === isPassed;
      return {
        key: `${comparison.kind} ${String(isPassed)}`,
        filter(column) {
          const beyond = [
            ...(isLike(Infinity) ? [compare(column, '>', formatFloatPlain(limit + margin(limit)))] : []),
            ...(isLike(-Infinity) ? [compare(column, '<', formatFloatPlain(limit - margin(limit)))] : []),
          ];
          // The backend may give decimals back with other digits.
          const isWhole = unit === '' && Number.isInteger(limit);
          const equal = isWhole && isLike(limit) ? [exact(column, formatFloatPlain(limit))] : [];
          const integer = comparison.kind === 'duration' ? [] : [isInteger(column, least)];
          return or(and(or(...beyond), or(regexp(column, pattern), ...integer)), ...equal);
        },
      };
    },
  };
}

/** Matches columns of integers with all their digits. In conditions of pipes the backend finds no pattern in them. */
function isInteger(column: string, least: number): LogsqlFilter {
  return and(
    ofTypes(column, integerTypes),
    compare(column, '>=', formatFloatPlain(least)),
    compare(column, '<=', '999999999999999'),
  );
}

const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
/** Values that are a dotted address, without anything around it. */
const dotted = `^(?:${byte}[.]){3}${byte}$`;

function addressTest({ value: addresses }: IpLabelFilter): OutcomeTest | undefined {
  const bounds = boundsOfIPv4(addresses);
  if (bounds === undefined) return undefined;
  const matches = compileIpFilter(addresses, new Meter());
  const isWithin = (column: string): LogsqlFilter => ipv4Range(column, ...bounds);
  return {
    // Addresses for documentation.
    candidates: [bounds[0], '192.0.2.1', '198.51.100.1'],
    proofFor(value) {
      const isMatch = matches(value);
      return {
        key: String(isMatch),
        filter: (column) => and(isMatch ? isWithin(column) : not(isWithin(column)), regexp(column, dotted)),
      };
    },
  };
}

/** Matches values that no parser or pattern reads otherwise: printable characters, and no decimals that are shown with other digits. */
function isPlain(column: string): LogsqlFilter {
  return and(regexp(column, '^[ -~]+$'), not(regexp(column, longDecimalPattern)));
}

/** Texts that are compared with stored values as with shown ones: values with spaces and decimals may be shown otherwise. */
const simpleText = /^(?!-?\d+\.\d+$)[!-~]*$/;

function textTest(comparison: Extract<LabelComparison, { kind: 'string' }>): OutcomeTest | undefined {
  const meaning = labelMeaning(comparison);
  const filters = meaning.tests.map(filterOf);
  if (filters.includes(undefined)) return undefined;
  const passes = compileMeaning({ ...meaning, isNegated: false }, new Meter());
  const isSimple = meaning.tests.every(
    (test) => test.kind === 'not-empty' || (test.kind === 'equals' && simpleText.test(test.text)),
  );
  const texts = meaning.tests.flatMap((test) => {
    if (test.kind === 'contains') return test.text;
    return test.kind === 'regexp' ? (matchingText(parseRegExp(test.pattern).root, new Map(), 'x') ?? []) : [];
  });
  return {
    candidates: ['x', '0', ...texts],
    proofFor(value) {
      const isPassed = passes(value);
      return {
        key: String(isPassed),
        filter(column) {
          const matched = or(...filters.flatMap((filter) => filter?.(column) ?? []));
          const plain = isSimple ? isSet(column) : isPlain(column);
          return and(isPassed ? matched : not(matched), plain);
        },
      };
    },
  };
}

/** The filter for columns whose values pass a test, if they are plain; undefined if there is none. */
function filterOf(test: FilterTest): ((column: string) => LogsqlFilter) | undefined {
  switch (test.kind) {
    case 'not-empty':
      return isSet;
    case 'equals':
    case 'contains': {
      if (test.ignoresCase) return undefined;
      return (column) => (test.kind === 'equals' ? exact : substring)(column, test.text);
    }
    case 'regexp': {
      const pattern = wholeLinePattern(test.anchored ? `^(?:${test.pattern})$` : test.pattern);
      return pattern === undefined ? undefined : (column) => regexp(column, pattern);
    }
    case 'all':
    case 'pattern':
    case 'ip':
      return undefined;
  }
}
