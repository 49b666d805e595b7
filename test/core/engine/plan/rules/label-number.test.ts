import test from 'ava';
import fc from 'fast-check';
import type { CompareOp } from '../../../../../core/logql/ast.js';
import { type OrderedComparison, orderOf } from '../../../../../core/logql/pipeline/label-comparison.js';
import { passingNumbers } from '../../../../../core/engine/plan/rules/label-number.js';
import { deepRuns } from '../../../../setup/runs.js';

const holds: Readonly<Record<CompareOp, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};
const ops = Object.keys(holds) as CompareOp[];

const limit = fc.oneof(
  fc.integer({ min: -20, max: 1200 }),
  fc.integer({ min: -200, max: 12_000 }).map((hundredths) => hundredths / 100),
  fc.constantFrom(0, 1, 9, 10, 99, 100, 500, 1e14, 999_999_999_999_998, 1e15, 1e300, Infinity, NaN),
);
const text = fc.oneof(
  fc.nat(1300).map(String),
  fc.nat(13_000).map((hundredths) => (hundredths / 100).toFixed(2)),
  fc.constantFrom(
    '0',
    '0.0',
    '-0',
    '-1',
    '00',
    '1e3',
    '5e2',
    '+5',
    '.5',
    '5.',
    '',
    '500ms',
    '0x1f4',
    '1_000',
  ),
  fc.maxSafeNat().map(String),
);

const span = { start: 0, end: 0 };

/** Characters that may follow a quoted text or an unquoted number. */
const ends = ['"', ',', '}', ' '];

test('texts that pass, or are no plain number, begin like a pattern, and whole numbers that fail do not', (t) => {
  fc.assert(
    fc.property(fc.constantFrom(...ops), limit, text, fc.constantFrom(...ends), (op, value, digits, end) => {
      const bounds = end === '"' ? { notFirst: '', end } : { notFirst: '" \\t', end: ',}\\] \\t\\r\\n' };
      const pattern = passingNumbers({ kind: 'number', name: 'x', op, value, span }, bounds);
      if (pattern === undefined) return;
      const isIn = new RegExp(`^${pattern}`).test(digits + end);
      const isPlain = /^[0-9]+(?:[.][0-9]*)?$/.test(digits);
      if (!isPlain || holds[op](Number(digits), value))
        t.true(isIn || (digits === '' && end !== '"'), `${digits} ${op} ${value}: ${pattern}`);
      else if (
        /^(?:0|[1-9][0-9]{0,9})$/.test(digits) &&
        (Number.isInteger(value) || Number(digits) !== Math.floor(value))
      )
        t.false(isIn, `${digits} ${op} ${value}: ${pattern}`);
    }),
    { numRuns: deepRuns(1_000, 3_000) },
  );
});

const fraction = fc.oneof(
  fc.constantFrom('', '', '.', '.0', '.5', '.999', '.99999999999999999999', '.00000000000000001'),
  fc.nat(9999).map((digits) => `.${digits}`),
);
const units = {
  number: ['', 'e3', '%'],
  duration: ['', 'ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h', 'm5s', 's5ms', 'sec', 'd'],
  bytes: [
    '',
    'B',
    'b',
    'k',
    'kB',
    'KB',
    'KiB',
    'kib',
    'ki',
    'M',
    'MB',
    'mib',
    'G',
    'GB',
    'Gi',
    'TB',
    'kx',
    'Kix',
    ' kB',
  ],
} as const;
const magnitude = fc
  .tuple(fc.nat({ max: 12 }), fc.nat(12_000))
  .map(([zeros, digits]) => digits * 10 ** zeros);
const ordered = fc
  .tuple(
    fc.constantFrom(...ops),
    fc.oneof(magnitude, fc.constantFrom(0, 1, 999, 1000, 1001, 1024, 1_048_576, 1e9)),
  )
  .chain(([op, value]): fc.Arbitrary<OrderedComparison> => {
    const all = { name: 'x', op, span };
    return fc.constantFrom<OrderedComparison>(
      { ...all, kind: 'number', value },
      { ...all, kind: 'duration', nanoseconds: BigInt(value) },
      { ...all, kind: 'bytes', bytes: value },
    );
  });
/** Values near the limit of a comparison, in all units. */
const compared = ordered.chain((filter) => {
  const { limit } = orderOf(filter);
  const sizes = fc.constantFrom(1, 1e3, 1024, 1e6, 1024 ** 2, 1e9);
  const near = fc
    .tuple(sizes, fc.integer({ min: -2, max: 2 }))
    .map(([size, by]) => Math.max(0, Math.floor(limit / size) + by));
  const digits = fc.oneof(
    near.map(String),
    near.map(String),
    fc.nat(2000).map(String),
    fc.constantFrom('', '0', '00', '-1', '+1'),
  );
  const unit = fc.constantFrom<string>(...units[filter.kind]);
  return fc.tuple(
    fc.constant(filter),
    fc.tuple(digits, fraction, unit).map((parts) => parts.join('')),
  );
});

test('a pattern matches all values that pass a comparison of numbers, durations or sizes, and all that cannot be compared', (t) => {
  let passed = 0;
  let dropped = 0;
  fc.assert(
    fc.property(compared, fc.constantFrom('"', ' ', ''), ([filter, value], end) => {
      const bounds = end === '"' ? { notFirst: '', end } : { notFirst: '"', end: '\\x00-\\x20' };
      if (value === '' || (end !== '"' && value.includes(' '))) return;
      const pattern = passingNumbers(filter, bounds);
      if (pattern === undefined) return;
      const { limit: bound, convert } = orderOf(filter);
      const read = convert(value);
      const isMatch = new RegExp(`^${pattern}`).test(value + end);
      if (typeof read === 'string' || holds[filter.op](read, bound)) {
        passed += 1;
        t.true(isMatch, `${value} ${filter.op} ${String(bound)}: ${pattern}`);
      } else if (!isMatch) dropped += 1;
    }),
    { numRuns: deepRuns(3_000, 30_000) },
  );
  // Without this check, a pattern that matches everything would pass.
  t.true(passed > 500 && dropped > 300, `${passed} passed, ${dropped} dropped`);
});
