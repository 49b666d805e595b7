import test from 'ava';
import fc from 'fast-check';
import { tokenizeText, formatOf, tokenize } from '../../../../../core/engine/patterns/drain/tokenize.js';
import { anyCharacter } from '../../../../setup/text.js';

test('names, addresses, times and paths are one token, other punctuation and = stand alone', (t) => {
  t.deepEqual(tokenizeText('10.2.3.4:80 - [01/Nov:05:59 +0000] k=v_1, "GET /a?b" sshd[7]:')?.tokens, [
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

test('text comes back from its tokens, blanks and all, unless it begins with one', (t) => {
  const words = fc.string({
    unit: fc.constantFrom('a', '7', ' ', '[', '=', '"', '<', '.', 'é', '李', ',', '。'),
  });
  fc.assert(
    fc.property(words, (line) => {
      const tokenized = tokenizeText(line);
      t.is(tokenized?.join(tokenized.tokens), line.startsWith(' ') ? line.replaceAll(' ', '') : line);
    }),
  );
});

test('of punctuation beyond ASCII the first byte is a token, as in Loki', (t) => {
  const tokenized = tokenizeText('a “b” c');
  t.is(tokenized?.tokens.length, 6);
  t.is(tokenized?.join(['a', '<_>', '\x80\x9cb', '<_>', '<_>', 'c']), 'a <_>��b<_><_> c');
});

test('the first line tells the format', (t) => {
  const lines = {
    json: ['{}', '{"a":1}', '{no json}'],
    logfmt: ['a=b', 'a= b', 'level=info msg="two words" n=3', 'a="b"c=d', 'ts=1 url=/?a=b&c="d"'],
    text: ['', '{', 'a', 'flag level=info', 'a=b flag', 'a-b=c d', 'a=b  c=d', 'a="b" c="d=e f'],
  };
  for (const [format, examples] of Object.entries(lines))
    for (const line of examples) t.is(formatOf(line), format as 'text', line);
});

test('logfmt is cut into keys and values, and written as an encoder does', (t) => {
  const line = 'level=info msg="payment \\"pending\\"" took=3ms flag empty= quoted="plain"';
  const tokenized = tokenize(line, 'logfmt');
  t.is(tokenized?.format, 'logfmt');
  t.deepEqual(tokenized?.tokens, [
    ...['level', 'info'],
    ...['msg', 'payment "pending"'],
    ...['took', '3ms'],
    ...['flag', ''],
    ...['empty', ''],
    ...['quoted', 'plain'],
  ]);
  t.is(
    tokenized?.join(tokenized.tokens),
    'level=info msg="payment \\"pending\\"" took=3ms flag= empty= quoted=plain',
  );
  t.is(tokenized?.join(['a\u007f', 'x\ty', 'b', '\\', 'c', '=']), 'a="x\\ty" b=\\ c="="');
  t.is(tokenized?.join(['\u007f', 'x']), '');
});

test('times and trace ids of logfmt differ in every line', (t) => {
  const tokenized = tokenize('Time=1 t=2 T=3 traceID=4 timestamps=5', 'logfmt');
  t.deepEqual(
    tokenized?.tokens.filter((_token, index) => index % 2 === 1),
    ['<_>', '<_>', '3', '<_>', '5'],
  );
});

test('of a JSON line the message is tokenized, whatever stands around it', (t) => {
  const tokenized = tokenize('{"level":"info","msg":"order 7 was placed","id":7}', 'json');
  t.is(tokenized?.format, 'json');
  t.deepEqual(tokenized?.tokens, ['order', '7', 'was', 'placed']);
  t.is(tokenized?.join(['order', '<_>', 'was', 'placed']), '<_>order <_> was placed<_>');
});

test('the message of a JSON line is the first string among its keys, as it is written', (t) => {
  const messages: readonly (readonly [line: string, message: string | undefined])[] = [
    [String.raw`{"msg":"say \"a\" and b","log":7}`, String.raw`say \"a\" and b`],
    ['{"msg":"one two three 4","log":"five six seven 8"}', 'five six seven 8'],
    ['{"in":{"msg":"1 2 3 4"},"list":[{"msg":"1 2 3 4"}],"content":"a b c d"}', 'a b c d'],
    [String.raw`{"\u006dsg":"a b c d"}`, 'a b c d'],
    ['{"msg":"a b c d",oops', 'a b c d'],
    ['{"msg":"a b c d","log":"cut', 'a b c d'],
    ['{"a":[1,"msg":"a b c d"}', undefined],
    ['{"a" "b", : "msg":"a b c d"}', undefined],
    ['"msg":"a b c d"', undefined],
    ['[{"msg":"a b c d"}]', undefined],
  ];
  for (const [line, message] of messages) {
    const tokenized = tokenize(line, 'json');
    t.is(tokenized?.join(tokenized.tokens), message === undefined ? undefined : `<_>${message}<_>`, line);
  }
});

test('lines of a few or very many tokens, long ones, broken logfmt and JSON without a message have no pattern', (t) => {
  for (const line of [
    '',
    'three short words',
    'a b c '.repeat(1000),
    'a '.repeat(81),
    `${'é'.repeat(1500)} b c d`,
  ])
    t.is(tokenize(line, 'text'), undefined, line.slice(0, 30));
  t.is(tokenize('a '.repeat(80), 'text')?.tokens.length, 80);
  for (const line of ['level=info msg="cut', 'a=b', 'a=b c=d e="f"g"'])
    t.is(tokenize(line, 'logfmt'), undefined, line);
  for (const line of ['{"level":"info","id":7}', '{"msg":3}', '{no json}', `{"msg":"${'a b '.repeat(800)}"}`])
    t.is(tokenize(line, 'json'), undefined, line.slice(0, 30));
  t.is(tokenize(`{"msg":"a b c d","pad":"${'x'.repeat(5000)}"}`, 'json')?.tokens.length, 4);
});

test('no line makes the tokenizer fail or slow', (t) => {
  const formats = ['text', 'logfmt', 'json'] as const;
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (line) => {
      t.notThrows(() => formatOf(line));
      for (const format of formats) t.notThrows(() => tokenize(line, format));
    }),
  );
  const hostile = [
    `a="${'\\'.repeat(2990)}`,
    `a=${'b '.repeat(1400)}`,
    `a="${'b="'.repeat(900)}`,
    '{"'.repeat(1400),
  ];
  for (const line of hostile) {
    t.notThrows(() => formatOf(line));
    for (const format of formats) t.notThrows(() => tokenize(line, format));
  }
});
