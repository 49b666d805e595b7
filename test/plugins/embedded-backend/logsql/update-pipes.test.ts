import test from 'ava';
import { runQuery } from './run-query.js';
import type { Fields } from './run-query.js';

function one(text: string, row: Fields): Fields {
  return runQuery(`* | ${text}`, [row])[0] ?? {};
}

test('unpack_json overwrites, flattens, takes the last of equal keys and leaves null out', (t) => {
  const _msg = '{"a":{"b":1.50,"c":[1, {"k":null}]},"d":1,"d":"2","n":null,"e":"","t":true,"u":"\\u00e9"}';
  t.deepEqual(one('unpack_json | delete _msg', { _msg, d: 'old', e: 'old', n: 'old' }), {
    'a.b': '1.50',
    'a.c': '[1,{"k":null}]',
    d: '2',
    n: 'old',
    t: 'true',
    u: 'é',
  });
  t.deepEqual(one('unpack_json fields (d, nope) | delete _msg', { _msg, nope: 'old' }), { d: '2' });
  t.deepEqual(one('unpack_json fields (a.*) result_prefix p_ | delete _msg', { _msg }), {
    'p_a.b': '1.50',
    'p_a.c': '[1,{"k":null}]',
  });
});

test('unpack_json keeps or overwrites as it is told', (t) => {
  const row = { _msg: '{"a":"new","b":""}', a: 'old', b: 'old' };
  t.deepEqual(one('unpack_json keep_original_fields | delete _msg', row), { a: 'old', b: 'old' });
  t.deepEqual(one('unpack_json skip_empty_results | delete _msg', row), { a: 'new', b: 'old' });
  t.deepEqual(one('unpack_json if (a:other) | delete _msg', row), { a: 'old', b: 'old' });
});

test('unpack_json reads whole objects only', (t) => {
  for (const _msg of [
    '[1]',
    '"x"',
    'text',
    '{"a":1} x',
    '{"a":1,}',
    '{"a" 1}',
    '{a:1}',
    '{"a":01}',
    '{',
    '{"a":"\n"}',
    '{"a":"\\x"}',
  ]) {
    t.deepEqual(one('unpack_json', { _msg }), { _msg }, _msg);
  }
  t.is(one('unpack_json', { _msg: ' \t{"a":1}\n' })['a'], '1');
  t.is(one('unpack_json fields (a)', { _msg: '{broken', a: 'old' })['a'], undefined);
  t.is(one('unpack_json fields (a)', { _msg: 'text', a: 'old' })['a'], 'old');
});

test('a deeply nested document is refused, not a stack overflow', (t) => {
  const _msg = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  t.deepEqual(one('unpack_json', { _msg }), { _msg });
});

test('unpack_logfmt reads quoted values, words without values and the last of equal names', (t) => {
  t.deepEqual(one('unpack_logfmt | delete _msg', { _msg: 'a=1 b="x \\"y\\"" c d= a=2 e==f' }), {
    a: '2',
    b: 'x "y"',
    e: '=f',
  });
  t.deepEqual(one('unpack_logfmt fields (b) result_prefix p. | delete _msg', { _msg: 'a=1 b=2' }), {
    'p.b': '2',
  });
  t.deepEqual(one('unpack_logfmt', { _msg: '=x' }), { _msg: '=x' });
});

test('extract takes what stands between the texts, quoted values without their quotes', (t) => {
  t.deepEqual(one('extract "ip=<ip> u=<user>;" | delete _msg', { _msg: 'x ip=1.2.3.4 u="a b"; y' }), {
    ip: '1.2.3.4',
    user: 'a b',
  });
  t.deepEqual(one('extract "ip=<ip> u=<plain:user>;" | delete _msg', { _msg: 'ip=1 u="a"; y' }), {
    ip: '1',
    user: '"a"',
  });
  t.deepEqual(one('extract "a=<_> b=<b>" | delete _msg', { _msg: 'a=1 b=2 c' }), { b: '2 c' });
  t.deepEqual(one('extract "a=<a> z=<z>" | delete _msg', { _msg: 'a=1 b=2', a: 'old', z: 'old' }), {});
  t.deepEqual(one('extract "&lt;<a>&gt;" from f keep_original_fields', { f: '<x>', a: 'old' }), {
    f: '<x>',
    a: 'old',
  });
});

test('extract_regexp fills named groups', (t) => {
  t.deepEqual(one('extract_regexp "(?P<k>[a-z]+)=(?P<v>.*)" | delete _msg', { _msg: '1 a=b\nc' }), {
    k: 'a',
    v: 'b\nc',
  });
  t.deepEqual(one('extract_regexp "(?P<k>x)|(?P<l>y)" from f | delete f', { f: 'y', k: 'old' }), { l: 'y' });
});

test('format puts fields into text in many forms', (t) => {
  const row = { s: 'a "é', n: '90000000000', d: '1m30s', i: '168427779', u: 'a b&c', h: '255' };
  const forms: readonly (readonly [string, string])[] = [
    ['<s>-<missing>-<_>', 'a "é--'],
    ['<q:s>', '"a \\"é"'],
    ['<uc:s>|<lc:s>', 'A "É|a "é'],
    ['<duration:n>', '1m30s'],
    ['<duration_seconds:d>', '90'],
    ['<ipv4:i>', '10.10.1.3'],
    ['<base64encode:h> <base64decode:u>', 'MjU1 a b&c'],
    ['<hexencode:h>', '323535'],
    ['<hexnumencode:h>', '00000000000000FF'],
    ['<urlencode:u>', 'a+b%26c'],
    ['<time:h>', '1970-01-01T00:04:15Z'],
  ];
  for (const [pattern, expected] of forms) {
    t.is(one(`format ${JSON.stringify(pattern)} as x`, row)['x'], expected, pattern);
  }
  t.is(one('format "<a>" as a keep_original_fields', { a: 'x' })['a'], 'x');
  t.is(one('format "" as a skip_empty_results', { a: 'x' })['a'], 'x');
});

test('math computes with numbers, durations and sizes, and says NaN for the rest', (t) => {
  const row = { a: '7', b: '2', d: '1.5s', s: '1KiB', t: 'text' };
  const sums: readonly (readonly [string, string])[] = [
    ['a + b * 2', '11'],
    ['(a + b) * 2', '18'],
    ['a - b - 1', '4'],
    ['2 ^ 3 ^ 1', '8'],
    ['a % b', '1'],
    ['-a', '-7'],
    ['a / 0', '+Inf'],
    ['d / 1s', '1.5'],
    ['s', '1024'],
    ['t + 1', 'NaN'],
    ['t default 5', '5'],
    ['missing default a + 1', '8'],
    ['max(a, b, t)', '7'],
    ['min(a, b)', '2'],
    ['round(7.5)', '8'],
    ['round(-7.5)', '-8'],
    ['round(1.234, 0.01)', '1.23'],
    ['floor(7.9) + ceil(0.1)', '8'],
    ['abs(b - a)', '5'],
    ['ln(exp(1))', '1'],
    ['6 & 3', '2'],
    ['6 or 1', '7'],
    ['6 xor 3', '5'],
    ['1 / 10000000', '0.0000001'],
    ['0.1 + 0.2', '0.30000000000000004'],
  ];
  for (const [expr, expected] of sums) t.is(one(`math ${expr} as x`, row)['x'], expected, expr);
  t.is(one('math a * 2 as x, x + 1 as y', row)['y'], '15');
  t.is(one('math a + b', row)['a + b'], '9');
  t.is(runQuery('* | math now() as x', [{}], { nowNs: 5n })[0]?.['x'], '5');
});

test('replace and replace_regexp change texts, up to a limit', (t) => {
  t.is(one('replace ("a", "$&") at f', { f: 'banana' })['f'], 'b$&n$&n$&');
  t.is(one('replace ("a", "x") at f limit 2', { f: 'banana' })['f'], 'bxnxna');
  t.is(one('replace_regexp ("(n)a", "<$1>") at f', { f: 'banana' })['f'], 'ba<n><n>');
  t.is(one('replace_regexp ("[an]", "") at f limit 2', { f: 'banana' })['f'], 'bana');
  t.is(one('replace if (f:x) ("a", "b") at f', { f: 'a' })['f'], 'a');
});

test('len, hash and json_array_len derive a column', (t) => {
  t.is(one('len(f) as x', { f: 'é😀' })['x'], '6');
  t.is(one('json_array_len(f) as x', { f: '[1,[2],"3"]' })['x'], '3');
  t.is(one('json_array_len(f) as x', { f: 'no' })['x'], '0');
  t.is(one('hash(f) as x', { f: 'a' })['x'], one('hash(f) as x', { f: 'a' })['x']);
  t.not(one('hash(f) as x', { f: 'a' })['x'], one('hash(f) as x', { f: 'b' })['x']);
});

test('pack_json and pack_logfmt write columns as text', (t) => {
  t.is(one('pack_json fields (a, c) as j', { a: '1', b: '2', c: '"' })['j'], '{"a":"1","c":"\\""}');
  t.is(one('pack_logfmt as j', { a: '1', b: 'x y' })['j'], 'a=1 b="x y"');
});

test('unroll makes a row of every item', (t) => {
  t.deepEqual(runQuery('* | unroll by (a, b)', [{ a: '[1,"x"]', b: '["y"]', c: 'z' }]), [
    { a: '1', b: 'y', c: 'z' },
    { a: 'x', c: 'z' },
  ]);
  t.deepEqual(runQuery('* | unroll if (c:no) by (a)', [{ a: '[1,2]', c: 'z' }]), [{ a: '[1,2]', c: 'z' }]);
  t.deepEqual(runQuery('* | unroll by (a) | limit 1', [{ a: '[1,2,3]' }]), [{ a: '1' }]);
});

test('split, collapse_nums and decolorize rewrite texts', (t) => {
  t.is(one('split "," from f as x', { f: 'a,"b"' })['x'], '["a","\\"b\\""]');
  t.is(
    one('collapse_nums at f', { f: 'id 12 x7 7s beef12 bee 0x1F5A é5 a_7_b 8b' })['f'],
    'id <N> x<N> <N>s <N> bee 0x<N> é<N> a_<N>_b 8b',
  );
  t.is(
    one('collapse_nums at f prettify', { f: '2026-10-10T10:20:30.5Z 10.1.2.3:80' })['f'],
    '<DATETIME> <IP4>:<N>',
  );
  t.is(one('decolorize f', { f: '\u001b[1;31mred\u001b[0m' })['f'], 'red');
});

test('a changed _time is the instant that later pipes see', (t) => {
  const rows = [{ _time: '2026-10-10T00:00:00Z', at: '2026-10-11T00:00:00Z' }];
  t.deepEqual(runQuery('* | copy at as _time | stats by (_time:1d) count() c', rows), [
    { _time: '2026-10-11T00:00:00Z', c: '1' },
  ]);
  t.deepEqual(runQuery('* | delete _time | stats by (_time:1d) count() c', rows), [{ c: '1' }]);
});
