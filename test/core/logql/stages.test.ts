import test from 'ava';
import {
  checkStages,
  dropUnusedLineFormats,
  isIpPattern,
  LogqlError,
  parseJsonPath,
  parseLogfmtKey,
  parsePattern,
  parseQuery,
  PathError,
  PatternError,
} from '../../../core/logql/index.js';

test('the fault of a stage names the stage as it is printed, neighbouring line filters as one', (t) => {
  const fault = (query: string): string | undefined =>
    t.throws(() => checkStages(parseQuery(query)), { instanceOf: LogqlError }).message;
  t.is(
    fault('{a="b"} |= "x" |~ "(" | json'),
    'parse error : stage \'|= "x" |~ "("\' : error parsing regexp: missing closing ): `(`',
  );
  t.is(
    fault('{a="b"} | json x="y.." | line_format "{{"'),
    'parse error : stage \'| json x="y.."\' : cannot parse expression [y..]: syntax error: unexpected DOT, expecting FIELD',
  );
  t.regex(
    fault('vector(1) + sum(rate({a="b"} |> "<x>"[1m]))') ?? '',
    /named captures are not allowed: found '<x>'/,
  );
});

test('a line format that nothing reads is neither run nor checked, unless bytes are counted', (t) => {
  const kinds = (query: string): readonly string[] => {
    const expr = parseQuery(query);
    return expr.kind === 'range-aggregation' ? dropUnusedLineFormats(expr).map(({ kind }) => kind) : [];
  };
  t.deepEqual(kinds('rate({a="b"} | line_format "{{" [1m])'), []);
  t.deepEqual(kinds('rate({a="b"} | line_format "x" | json | line_format "{{" | c="d" [1m])'), [
    ...['line-format', 'json', 'label-filter'],
  ]);
  t.deepEqual(kinds('bytes_rate({a="b"} | line_format "x" [1m])'), ['line-format']);
  t.notThrows(() => checkStages(parseQuery('rate({a="b"} | line_format "{{" [1m])')));
  for (const reader of [
    '|= "x"',
    '| json',
    '| logfmt',
    '| regexp "(?P<c>.)"',
    '| pattern "<c> "',
    '| unpack',
  ])
    t.is(kinds(`rate({a="b"} | line_format "x" ${reader} [1m])`).length, 2, reader);
  // Loki does not know that the first two of these stages read the line.
  for (const other of ['| decolorize', '| label_format c="{{__line__}}"', '| c="d"', '| drop c', '| keep c'])
    t.is(kinds(`rate({a="b"} | line_format "x" ${other} [1m])`).length, 1, other);
});

test('ip patterns are addresses, blocks and rising ranges', (t) => {
  for (const text of [
    '10.0.0.1',
    '10.0.0.0/8',
    '10.0.0.1-10.0.0.9',
    '::1',
    'fe80::/10',
    '::1-::ff',
    '10.0.0.1-10.0.0.1',
  ]) {
    t.true(isIpPattern(text), text);
  }
  for (const text of [
    '',
    'x',
    '300.1.1.1',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.9-10.0.0.1',
    '10.0.0.1-::1',
    '010.0.0.1',
    '1.2.3',
  ]) {
    t.false(isIpPattern(text), text);
  }
});

test('json paths step by name, by quoted key and by index', (t) => {
  t.deepEqual(parseJsonPath('a.b[0]["odd key"].c'), ['a', 'b', 0, 'odd key', 'c']);
  t.deepEqual(parseJsonPath('["a b"][10]'), ['a b', 10]);
  for (const path of ['', '.a', 'a.', 'a[', 'a[b]', 'a b', 'a-b', '1', 'a[1.5]']) {
    t.throws(() => parseJsonPath(path), { instanceOf: PathError }, path);
  }
});

test('logfmt keys are one name, bare or quoted', (t) => {
  t.is(parseLogfmtKey('a_1'), 'a_1');
  t.is(parseLogfmtKey('"a b"'), 'a b');
  for (const path of ['', 'a b', 'a.b', '1a'])
    t.throws(() => parseLogfmtKey(path), { instanceOf: PathError }, path);
});

test('faults of a path name the tokens that Loki would take', (t) => {
  for (const [path, fault] of [
    ['k[7', 'syntax error: unexpected $end, expecting STRING or INDEX'],
    ['k[7.0]', 'syntax error: unexpected $end, expecting STRING or INDEX'],
    ['k]7[', 'syntax error: unexpected RSB'],
    ['k l', 'syntax error: unexpected FIELD'],
    ['k 7x', 'non-integer value: x'],
    ['k 7.', 'cannot use float as array index'],
    ['k\r', 'unexpected char \r'],
    ['k 99999999999999999999]', 'strconv.Atoi: parsing "99999999999999999999": value out of range'],
  ] as const) {
    t.throws(() => parseJsonPath(path), { message: `cannot parse expression [${path}]: ${fault}` });
  }
  t.deepEqual(parseJsonPath('k\0]'), ['k']);
  t.is(parseLogfmtKey('k "l" "m'), 'k%!(EXTRA string=l, string=m)');
  t.throws(() => parseLogfmtKey('k]'), { message: 'cannot parse expression [k]]: unexpected char ]' });
});

test('pattern expressions fall into literals and captures', (t) => {
  t.deepEqual(parsePattern('<a> [<_>] <1x>', 'captures'), [
    { kind: 'capture', name: 'a' },
    { kind: 'literal', text: ' [' },
    { kind: 'capture', name: undefined },
    { kind: 'literal', text: '] <1x>' },
  ]);
  t.deepEqual(parsePattern('', 'filter'), []);
  for (const text of ['', 'x', '<_>', '<a><b>', '<a> <a>']) {
    t.throws(() => parsePattern(text, 'captures'), { instanceOf: PatternError }, text);
  }
  for (const text of ['<a>', '<_><_>'])
    t.throws(() => parsePattern(text, 'filter'), { instanceOf: PatternError }, text);
});
