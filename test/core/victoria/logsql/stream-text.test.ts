import test from 'ava';
import fc from 'fast-check';
import { parseStreamText, StreamTextError } from '../../../../core/victoria/logsql/stream-text.js';
import { anyCharacter } from '../../../setup/text.js';

test('a stream text gives its labels in order', (t) => {
  t.deepEqual(parseStreamText('{app="cart",service.name="x,y=\\"z\\""}'), [
    ['app', 'cart'],
    ['service.name', 'x,y="z"'],
  ]);
  t.deepEqual(parseStreamText('{}'), []);
});

test('Go escapes in values are read', (t) => {
  t.deepEqual(parseStreamText('{a="\\n\\t\\\\\\u00e9\\U0001f680\\x41\\x1b"}'), [['a', '\n\t\\é🚀A\u001b']]);
});

test('whatever a value holds, quoting and reading give it back', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (first, second) => {
      const labels = parseStreamText(`{a=${JSON.stringify(first)},"b c"=${JSON.stringify(second)}}`);
      t.deepEqual(labels, [
        ['a', first],
        ['b c', second],
      ]);
    }),
  );
});

test('a text that is no stream is refused', (t) => {
  for (const text of ['', '{', '{a}', '{a="b"', '{a="b}', '{a=b}', '{a="b""c"}', '{a="\\u12"}']) {
    t.throws(() => parseStreamText(text), { instanceOf: StreamTextError }, text);
  }
});
