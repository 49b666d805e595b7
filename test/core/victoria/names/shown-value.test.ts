import test from 'ava';
import fc from 'fast-check';
import {
  longDecimalPattern,
  repairDecimal,
  shownValue,
} from '../../../../core/victoria/names/shown-value.js';

const repairs: readonly (readonly [stored: string, shown: string])[] = [
  ['0.30000000000000004', '0.3'],
  ['0.043000000000000003', '0.043'],
  ['-0.28500000000000003', '-0.285'],
  ['0.3', '0.3'],
  ['3.141592653589793238', '3.141592653589793238'],
  ['9007199254740993', '9007199254740993'],
  ['1.2.3.4.5.6.7.8.90', '1.2.3.4.5.6.7.8.90'],
];

for (const [stored, shown] of repairs) {
  test(`${stored} is shown as ${shown}`, (t) => {
    t.is(repairDecimal(stored), shown);
  });
}

test('bytes that are no text are shown as spaces', (t) => {
  t.is(shownValue('a\ufffd\ufffdb'), 'a  b');
  t.is(shownValue('größe'), 'größe');
});

test('a decimal that was kept as digits times a power of ten is found again', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: 1, max: 6 }), (whole, digits) => {
      const text = (whole / 10 ** digits).toFixed(digits).replace(/0+$/, '').replace(/\.$/, '');
      fc.pre(text.includes('.'));
      const count = text.split('.')[1]?.length ?? 0;
      const read = String(Number(text.replace('.', '')) * Number(`1e-${count}`));
      t.is(repairDecimal(read), text);
    }),
  );
});

test('whatever is repaired has the form that filters let through', (t) => {
  const form = new RegExp(longDecimalPattern);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1000, noNaN: true }), (value) => {
      const text = String(value);
      t.true(repairDecimal(text) === text || form.test(text));
    }),
  );
});
