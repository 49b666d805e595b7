import test from 'ava';
import fc from 'fast-check';
import type { FieldType } from '../../../../core/wire/answer/types.js';
import { fieldTypeOf } from '../../../../core/engine/fields/field-type.js';
import { anyCharacter } from '../../../setup/text.js';

const examples: readonly (readonly [type: FieldType, values: readonly string[]])[] = [
  ['int', ['0', '-12', '+7', '9007199254740993', '0012']],
  ['float', ['0.25', '1e9', '-.5', 'NaN', 'Inf', '99999999999999999999']],
  ['boolean', ['true', 'False', 'T', 'f']],
  ['duration', ['74s', '1h2m', '739µs', '1.70s', '-3ms']],
  ['bytes', ['966B', '361KB', '9.1MB', '52KiB', '1,024 kb']],
  ['string', ['', 'yes', '10.0.0.1', '74 s', '1.2.3', '2026-11-01T05:59:58Z', 'u10', '5 apples']],
];

for (const [type, values] of examples) {
  test(`values of type ${type} are told apart from all others`, (t) => {
    for (const value of values) t.is(fieldTypeOf(value), type, JSON.stringify(value));
  });
}

test('every whole number of 64 bits is an int, and a fraction makes it a float', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.nat(999), (number, fraction) => {
      t.is(fieldTypeOf(String(number)), 'int');
      t.is(fieldTypeOf(`${number}.${fraction}`), 'float');
    }),
  );
});

test('no text makes the detection fail, however long', (t) => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => typeof fieldTypeOf(text) === 'string'));
  t.is(fieldTypeOf('9'.repeat(1_000_000)), 'string');
});
