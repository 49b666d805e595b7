import test from 'ava';
import fc from 'fast-check';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { readNumber } from '../../../../core/logql/pipeline/conversions.js';
import { GatheredValues } from '../../../../core/victoria/upstream/gathered-values.js';
import { anyCharacter } from '../../../setup/text.js';

const digits = fc.stringMatching(/^[0-9]{1,17}$/);
const anyText = fc.oneof(
  digits,
  fc.tuple(fc.constantFrom('', '-'), digits, digits).map(([sign, whole, part]) => `${sign}${whole}.${part}`),
  fc.double().map(String),
  fc.integer().map(String),
  fc.constantFrom(
    '',
    '-',
    '.',
    '.5',
    '5.',
    '-.5',
    '1.2.3',
    '--1',
    '1-',
    '007',
    '-0',
    '1e3',
    '0x10',
    '1_000',
    '12ms',
  ),
  fc.string({ unit: anyCharacter }),
);

/** All values of an array: numbers in parts of this size where possible, and texts. */
function read(array: string, part: number): (number | string)[] {
  const values = new GatheredValues(array);
  const room = new Float64Array(part);
  const all: (number | string)[] = [];
  for (;;) {
    const count = values.numbers(room, 0);
    all.push(...room.subarray(0, count));
    if (count === part) continue;
    const text = values.text();
    if (text === undefined) return all;
    all.push(text);
  }
}

test('a number is what its text says, in parts of any size, and every other text comes as it is', (t) => {
  fc.assert(
    fc.property(fc.array(anyText), fc.integer({ min: 1, max: 5 }), (texts, part) => {
      const all = read(JSON.stringify(texts), part);
      t.is(all.length, texts.length);
      for (const [index, text] of texts.entries()) {
        const [value] = all.slice(index);
        t.is(value, typeof value === 'number' ? (readNumber(text) as number) : text);
      }
    }),
  );
});

test('plain decimals are read as numbers', (t) => {
  t.deepEqual(
    read('["12","-3.25","0.1","999999999999999","007","-0"]', 8),
    [12, -3.25, 0.1, 999999999999999, 7, -0],
  );
});

test('what is no array of texts is an error, wherever it ends', (t) => {
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1 }), fc.nat(), (texts, length) => {
      const whole = JSON.stringify(texts);
      const error = t.throws(() => read(whole.slice(0, length % whole.length), 3), { instanceOf: ApiError });
      t.is(error.status, 502);
    }),
  );
  for (const odd of ['', '12', 'null', '[12]', '["1",2]', '["1" ,"2"]', '["1"]]', '["\\x"]', '{"1":"2"}'])
    t.throws(() => read(odd, 3), { instanceOf: ApiError }, odd);
});
