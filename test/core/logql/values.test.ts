import test from 'ava';
import fc from 'fast-check';
import { foldLiterals } from '../../../core/logql/index.js';
import { formatBytes, parseBytes } from '../../../core/logql/values/bytes.js';
import { quoteGo } from '../../../core/base/label-set.js';
import { unquoteGo } from '../../../core/logql/values/unquote.js';
import { anyCharacter } from '../../setup/text.js';

test('sizes are read with decimal and binary units and printed with two digits', (t) => {
  for (const [text, size] of [
    ['1.5KiB', 1536],
    ['2kb', 2000],
    ['1,024 B', 1024],
    ['7', 7],
    ['3Mi', 3_145_728],
    ['1EB', 1e18],
  ] as const) {
    t.is(parseBytes(text), size, text);
  }
  for (const text of ['', 'kb', '1xb', '1.2.3kb', '99EB']) t.is(parseBytes(text), undefined, text);
  t.deepEqual([7, 10, 1000, 1536, 12_500, 13_500, 2e9].map(formatBytes), [
    ...['7B', '10B', '1.0kB', '1.5kB', '12kB', '14kB', '2.0GB'],
  ]);
});

test('a quoted text unquotes to itself', (t) => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => t.is(unquoteGo(quoteGo(text)), text)));
  t.is(
    quoteGo('a"\\\n\u0001\u007f\u00a0\u{1f600}\u{e0001}'),
    '"a\\"\\\\\\n\\x01\\x7f\\u00a0\u{1f600}\\U000e0001"',
  );
});

test('escapes are read as in Go, bytes as UTF-8', (t) => {
  t.is(unquoteGo('"\\x41\\101\\u00e9\\U0001f600\\a\\v"'), 'AA\u00e9\u{1f600}\u0007\v');
  t.is(unquoteGo('"\\xc3\\xa9\\xff"'), '\u00e9\udcff');
  t.is(quoteGo('\u00e9\udcff'), '"\u00e9\\xff"');
  t.is(unquoteGo('`\\n`'), '\\n');
  for (const text of ['"\\400"', '"\\q"', '"\\x4"', '"a', '"a\nb"', '"\\\'"', '"a"b"', '"\\U00110000"']) {
    t.is(unquoteGo(text), undefined, text);
  }
});

test('literals fold as Loki computes them', (t) => {
  t.is(foldLiterals('/', 1, 0), NaN);
  t.is(foldLiterals('%', 7, 0), NaN);
  t.is(foldLiterals('%', -7, 3), -1);
  t.is(foldLiterals('^', 1, NaN), 1);
  t.is(foldLiterals('>=', 2, 2), 1);
  t.is(foldLiterals('!=', 2, 2), 0);
});
