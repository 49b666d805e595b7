import test from 'ava';
import fc from 'fast-check';
import type { CompareOp } from '../../../../../core/logql/ast.js';
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

/** What follows a text in quotes, and a number that stands as it is. */
const ends = ['"', ',', '}', ' '];

test('texts that pass, or are no plain number, begin like a pattern, and whole numbers that fail do not', (t) => {
  fc.assert(
    fc.property(fc.constantFrom(...ops), limit, text, fc.constantFrom(...ends), (op, value, digits, end) => {
      const bounds = end === '"' ? { notFirst: '', end } : { notFirst: '" \\t', end: ',}\\] \\t\\r\\n' };
      const pattern = passingNumbers(op, value, bounds);
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
