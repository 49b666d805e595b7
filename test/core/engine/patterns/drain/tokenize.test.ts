import test from 'ava';
import fc from 'fast-check';
import { tokenizeText } from '../../../../../core/engine/patterns/drain/line-tokens.js';
import { tokenize } from '../../../../../core/engine/patterns/drain/tokenize.js';
import { anyCharacter } from '../../../../setup/text.js';

test('names, addresses, times and paths are one token, other punctuation and = stand alone', (t) => {
  t.deepEqual(tokenizeText('10.2.3.4:80 - [01/Nov:05:59 +0000] k=v_1, "GET /a?b" sshd[7]:').tokens, [
    '10.2.3.4:80',
    '-',
    '[',
    '01/Nov:05:59',
    '+0000',
    ']',
    'k',
    '=',
    'v_1',
    ',',
    '"',
    'GET',
    '/a',
    '?',
    'b',
    '"',
    'sshd',
    '[',
    '7',
    ']',
    ':',
  ]);
});

test('text comes back from its tokens, blanks and all', (t) => {
  const words = fc.string({ unit: fc.constantFrom('a', '7', ' ', '[', '=', '"', '<', '.', 'é', '李', ',') });
  fc.assert(
    fc.property(words, (line) => {
      const { tokens, join } = tokenizeText(line);
      t.is(join(tokens), line);
    }),
  );
});

test('logfmt is cut into keys and values, whose quotes stay', (t) => {
  const line = 'level=info msg="payment \\"pending\\"" took=3ms flag empty=';
  const tokenized = tokenize(line);
  t.is(tokenized?.format, 'logfmt');
  t.deepEqual(tokenized?.tokens, [
    'level',
    'info',
    'msg',
    '"payment \\"pending\\""',
    'took',
    '3ms',
    'flag',
    '',
    'empty',
    '',
  ]);
  t.is(tokenized?.join(tokenized.tokens), 'level=info msg="payment \\"pending\\"" took=3ms flag= empty=');
});

test('of a JSON line the message is tokenized, whatever stands around it', (t) => {
  const tokenized = tokenize('{"level":"info","msg":"order 7 was placed","id":7}');
  t.is(tokenized?.format, 'json');
  t.deepEqual(tokenized?.tokens, ['order', '7', 'was', 'placed']);
  t.is(tokenized?.join(['order', '<_>', 'was', 'placed']), '<_>order <_> was placed<_>');
});

test('short lines, long lines, broken logfmt and JSON without a message have no pattern', (t) => {
  const lines = [
    '',
    'three short words',
    'a b c '.repeat(1000),
    'level=info msg="cut',
    '{"level":"info","id":7}',
    '{"msg":3}',
    '{no json}',
  ];
  for (const line of lines) t.is(tokenize(line), undefined, line.slice(0, 30));
});

test('no line makes the tokenizer fail or slow', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (line) => {
      t.notThrows(() => tokenize(line));
    }),
  );
  t.notThrows(() => tokenize(`a="${'\\'.repeat(2990)}`));
  t.notThrows(() => tokenize(`a=${'b '.repeat(1400)}`));
});
