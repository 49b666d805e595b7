import test from 'ava';
import fc from 'fast-check';
import { parseGoFloat, parseGoInt, quoteGo } from '../../../../core/base/time/index.js';

test('integers are read as Go reads them', (t) => {
  t.deepEqual(parseGoInt('+7'), { kind: 'ok', value: 7n });
  t.deepEqual(parseGoInt('-9223372036854775808'), { kind: 'ok', value: -9_223_372_036_854_775_808n });
  t.deepEqual(parseGoInt('00000000000000000000000012'), { kind: 'ok', value: 12n });
  t.deepEqual(parseGoInt('9223372036854775808'), { kind: 'bad', problem: 'value out of range' });
  for (const text of ['', '1.0', ' 1', '0x10', '1_000', '١']) {
    t.deepEqual(parseGoInt(text), { kind: 'bad', problem: 'invalid syntax' }, text);
  }
});

test('floats are read as Go reads them, names and hexadecimal forms included', (t) => {
  t.deepEqual(parseGoFloat('1.5'), { kind: 'ok', value: 1.5 });
  t.deepEqual(parseGoFloat('.5e1'), { kind: 'ok', value: 5 });
  t.deepEqual(parseGoFloat('-Inf'), { kind: 'ok', value: -Infinity });
  t.deepEqual(parseGoFloat('NaN'), { kind: 'ok', value: NaN });
  t.deepEqual(parseGoFloat('0x1.8p1'), { kind: 'ok', value: 3 });
  t.deepEqual(parseGoFloat('1e400'), { kind: 'bad', problem: 'value out of range' });
  for (const text of ['', '.', '1s', '0x10', '1e', '--1']) {
    t.deepEqual(parseGoFloat(text), { kind: 'bad', problem: 'invalid syntax' }, text);
  }
});

test('quoting escapes what Go escapes and keeps what can be printed', (t) => {
  t.is(quoteGo('a"b\\c\n\u0000é世\u200b'), '"a\\"b\\\\c\\n\\x00é世\\u200b"');
});

test('a quoted text of printable letters reads back as JSON', (t) => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~]*$/), (text) => {
      t.is(JSON.parse(quoteGo(text)), text);
    }),
  );
});
