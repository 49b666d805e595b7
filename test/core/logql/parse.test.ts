import test from 'ava';
import {
  LogqlError,
  parseMatchers,
  parseQuery,
  parseSteps,
  printPlain,
  printQuery,
  requireNonEmptyMatcher,
} from '../../../core/logql/index.js';

function refusal(t: { throws: (run: () => unknown, how: object) => unknown }, run: () => unknown): string {
  const error = t.throws(run, { instanceOf: LogqlError });
  return error instanceof Error ? error.message : '';
}

const dotted = [
  '{a.b="x", k8s.pod.name=~"y"} | c.d>=500 | e.f="x"',
  '{z="1"} | json x.y="a",q="q" | logfmt --strict k.l="m"',
  '{z="1"} | label_format a.b="x",c=d.e | drop a.b,c.d="x" | keep e.f',
  'sum by (a.b)(max_over_time({z="1"} | unwrap duration(a.b)[1m]) by (c.d))',
  '(vector(1.000000) + on (a.b) group_left (c.d) vector(2.000000))',
  '{json.by="x"} | on.or="y"',
];

test('dotted names are read everywhere when they are accepted, and print as they were', (t) => {
  for (const query of dotted) t.is(printPlain(parseQuery(query, { dottedNames: 'accept' })), query);
});

test('dotted names are refused at the dot by default', (t) => {
  t.is(
    refusal(t, () => parseQuery('{a.b="x"}')),
    'parse error at line 1, col 3: syntax error: unexpected ., expecting = or =~ or !~ or !=',
  );
  t.is(
    refusal(t, () => parseQuery('{a.b="x"}', { dottedNames: 'reject' })),
    refusal(t, () => parseQuery('{a.b="x"}')),
  );
});

test('a name that ends in a dot is refused in either language', (t) => {
  for (const query of ['{a.="x"}', '{.a="x"}', '{a. b="x"}']) {
    for (const dottedNames of ['accept', 'reject'] as const)
      t.regex(
        refusal(t, () => parseQuery(query, { dottedNames })),
        /unexpected \./,
      );
  }
});

test('selectors are read alone, the empty one included', (t) => {
  t.deepEqual(
    parseMatchers('{a="b", c!~"d"}').map(({ name, op, value }) => name + op + value),
    ['a=b', 'c!~d'],
  );
  t.deepEqual(parseMatchers('{}'), []);
  t.deepEqual(parseMatchers('({a="b"})').length, 1);
});

test('anything but a selector is refused where matchers are asked for', (t) => {
  for (const query of ['{a="b"} |= "x"', '{a="b"} | json', 'rate({a="b"}[1m])', '1']) {
    t.is(
      refusal(t, () => parseMatchers(query)),
      'only label matchers are supported',
    );
  }
  t.is(
    refusal(t, () => parseMatchers('bad{')),
    'parse error at line 1, col 1: syntax error: unexpected IDENTIFIER',
  );
  t.is(
    refusal(t, () => parseMatchers('')),
    'parse error : syntax error: unexpected $end',
  );
  t.regex(
    refusal(t, () => parseMatchers('{app="x" |= ')),
    /^parse error at line 0, col 10: /,
  );
});

test('matchers that all hold for a missing label are refused on demand', (t) => {
  t.regex(
    refusal(t, () => requireNonEmptyMatcher([])),
    /^parse error : queries require at least one/,
  );
  for (const passing of ['{a!=""}', '{a=~".+"}', '{a!~"x|"}', '{a="", b="c"}', '{a=~"(?s)."}']) {
    t.notThrows(() => requireNonEmptyMatcher(parseMatchers(passing)));
  }
  for (const failing of ['{a=""}', '{a!="x"}', '{a=~".*"}', '{a!~".+"}']) {
    t.throws(() => requireNonEmptyMatcher(parseMatchers(failing)), { instanceOf: LogqlError });
  }
});

test('a faulty regexp is told before any syntax error, even one further left that reading survives', (t) => {
  const fault = 'error parsing regexp: missing closing ): `(`';
  for (const query of [
    '{a=~"("} !!!',
    '{a="b" |= "c" | regexp "("',
    '{a="b"} | label_format x="y", , z | regexp "("',
    'rate({a="b"}[5m] @ 1) + rate({a=~"("}[1m])',
  ]) {
    t.true(refusal(t, () => parseQuery(query)).endsWith(fault), query);
  }
  // In all other cases the parser stops at the first syntax error.
  for (const [query, text] of [
    ['foo {a=~"("}', /unexpected IDENTIFIER/],
    ['{a=} | regexp "("', /unexpected }, expecting STRING$/],
    ['{=} | regexp "("', /unexpected =, expecting IDENTIFIER or }$/],
    ['{a="b"} | label_format x="y", ) and {a=~"("}', /unexpected \), expecting IDENTIFIER$/],
  ] as const) {
    t.regex(
      refusal(t, () => parseQuery(query)),
      text,
    );
  }
});

test('of several faulty expressions the outermost and then the leftmost is told', (t) => {
  t.regex(
    refusal(t, () => parseQuery('sum(3, rate({}[1m]) + {a="b"})')),
    /unsupported parameter for operation sum/,
  );
  t.regex(
    refusal(t, () => parseQuery('sum(rate({}[1m])) + sum(3, vector(1))')),
    /queries require/,
  );
  t.regex(
    refusal(t, () => parseQuery('sum(3, vector(1)) + rate({}[1m])')),
    /unsupported parameter/,
  );
  t.regex(
    refusal(t, () => parseQuery('sum_over_time({}[1m])')),
    /invalid aggregation sum_over_time without unwrap/,
  );
});

test('an operator tells a number that it cannot read before the faults inside its operands', (t) => {
  const number = /unable to parse literal as a float: strconv.ParseFloat: parsing "0x2": invalid syntax$/;
  for (const [query, text] of [
    ['sort by (a) (rate({b="c"}[1m])) + 0x2', number],
    ['sum(3, vector(1)) - (0x2)', number],
    ['rate({}[1m]) and 0x2', number],
    ['rate({}[1m]) > (0x2 + vector(1))', /queries require/],
    ['rate({}[1m]) or vector(0x2)', /queries require/],
    ['sort by (a) (rate({b="c"}[1m])) and 2', /unexpected literal for right leg/],
    ['{b="c"} + 0x2', /unexpected type for left leg/],
  ] as const) {
    t.regex(
      refusal(t, () => parseQuery(query)),
      text,
      query,
    );
  }
});

test('the parameter of a quantile is checked before its range', (t) => {
  for (const range of ['{}|unwrap a[1m]', '{a="b"}[1m]']) {
    t.regex(
      refusal(t, () => parseQuery(`quantile_over_time(1e400, ${range}) without (c)`)),
      /invalid parameter for operation quantile_over_time: .*value out of range$/,
    );
  }
});

test('sorting refuses labels to group by, but not an empty list', (t) => {
  for (const grouping of ['by ()', 'without ()']) {
    t.notThrows(() => parseQuery(`sort ${grouping} (rate({a="b"}[1m]))`));
    t.notThrows(() => parseQuery(`max(sort_desc(rate({a="b"}[1m])) ${grouping})`));
  }
  t.regex(
    refusal(t, () => parseQuery('max(sort without (a) (rate({a="b"}[1m])))')),
    /doesn't allow grouping/,
  );
});

test('a word that might be a function is read on to the end, where a broken character is told at the word', (t) => {
  const told = (query: string): string => refusal(t, () => parseQuery(query));
  t.is(told('{a="b"} | rate = "c" | d = "\0"'), 'parse error at line 1, col 11: invalid character NUL');
  t.is(told('sum by (a) (rate({b="c"}[1m])) > "\0"'), 'parse error at line 1, col 34: invalid character NUL');
  t.is(
    told('sum\ufeff(rate({b="c"}[1m]))'),
    'parse error at line 1, col 1: syntax error: unexpected IDENTIFIER',
  );
});

test('a binary number is only seen as one right behind a sign', (t) => {
  for (const query of ['vector(0b1)', '1 +0b1']) {
    t.regex(
      refusal(t, () => parseQuery(query)),
      /strconv.ParseFloat: parsing "0b1": invalid syntax$/,
    );
  }
  for (const query of ['vector( 0b1)', '1 + 0b1', 'vector(/**/0b1)', '{a="b"} | c > 0B']) {
    t.regex(
      refusal(t, () => parseQuery(query)),
      /decimal literal has no digits$/,
    );
  }
});

test('bytes that are no UTF-8 are kept, told in hexadecimal, and refused in a regexp', (t) => {
  const query = '{a="\\xff"} |= "x\\xc3\\xa9\\xc3" | c=~"\\xfe|d"';
  t.is(printPlain(parseQuery(query)), '{a="\\xff"} |= "x\u00e9\\xc3" | c=~"\\xfe|d"');
  t.is(
    refusal(t, () => parseQuery('{a="b"} | c=~"x+\\xff"')),
    'parse error : error parsing regexp: invalid UTF-8: `\ufffd`',
  );
});

test('a query of 131072 bytes is too long, one byte less is not', (t) => {
  const query = (size: number): string => `{a="${'\u00e9'.repeat((size - 7) / 2)}x"}`;
  t.notThrows(() => parseQuery(query(131071)));
  t.is(
    refusal(t, () => parseQuery(` ${query(131071)}`)),
    'parse error : input size too long (131072 > 131072)',
  );
});

test('deep nesting is refused instead of exhausting the stack, parentheses cost nothing', (t) => {
  const nested = `${'sum('.repeat(20_000)}vector(1)${')'.repeat(20_000)}`;
  t.regex(
    refusal(t, () => parseQuery(nested)),
    /nested too deeply/,
  );
  t.regex(
    refusal(t, () => parseQuery(`vector(1)${'+vector(1)'.repeat(12_000)}`)),
    /nested too deeply/,
  );
  t.is(printQuery(parseQuery(`${'('.repeat(30_000)}1${')'.repeat(30_000)}`)), '1');
});

test('nodes know where they stand in the text', (t) => {
  const text = 'sum by (a) (rate({b="c"} |= "d" | json | e > 5 [1m]))';
  const expr = parseQuery(text);
  const at = ({ span }: { span: { start: number; end: number } }): string => text.slice(span.start, span.end);
  if (expr.kind !== 'vector-aggregation' || expr.expr.kind !== 'range-aggregation') return t.fail();
  const { query } = expr.expr.range;
  t.is(at(expr), text);
  t.is(expr.grouping === undefined ? '' : at(expr.grouping), 'by (a)');
  t.is(at(expr.expr), 'rate({b="c"} |= "d" | json | e > 5 [1m])');
  t.is(at(query), '{b="c"} |= "d" | json | e > 5');
  t.deepEqual(query.selector.matchers.map(at), ['b="c"']);
  t.deepEqual(query.stages.map(at), ['|= "d"', '| json', '| e > 5']);
});

test('a negated line filter with alternatives becomes one stage each', (t) => {
  const expr = parseQuery('{a="b"} != "x" or ip("10.0.0.1") |= "y" or "z"');
  if (expr.kind !== 'log') return t.fail();
  t.deepEqual(
    expr.stages.map((stage) =>
      stage.kind === 'line-filter' ? stage.alternatives.map(({ value }) => value) : [],
    ),
    [['x'], ['10.0.0.1'], ['y', 'z']],
  );
});

test('values arrive parsed: nanoseconds, bytes, numbers', (t) => {
  const expr = parseQuery('{a="b"} | d > 1d12h | s = 1.5KiB | n < -16 | m != 1_000');
  if (expr.kind !== 'log') return t.fail();
  const values = expr.stages.map((stage) => {
    if (stage.kind !== 'label-filter') return undefined;
    const { filter } = stage;
    if (filter.kind === 'duration') return filter.nanoseconds;
    if (filter.kind === 'bytes') return filter.bytes;
    return filter.kind === 'number' ? filter.value : undefined;
  });
  t.deepEqual(values, [129_600_000_000_000n, 1536, -16, 1000]);
});

test('a label filter whose regexp cannot be simplified prints in backquotes', (t) => {
  const printed = (regex: string): string =>
    printQuery(parseQuery(`{z="1"} | a=~"${regex}" | b!~"${regex}"`));
  for (const regex of ['foo', 'foo|bar', '.*foo.*', '.+', 'foo|foobar', '(?i)foo', 'foo(a1|b1)']) {
    t.is(printed(regex), `{z="1"} | a=~"${regex}" | b!~"${regex}"`);
  }
  for (const regex of ['a|b', '5..', '^foo', 'foo.+', 'abc|abd', 'foo.*bar', 'a{2}']) {
    t.is(printed(regex), `{z="1"} | a=~\`${regex}\` | b!~"${regex}"`);
  }
  t.is(printed('5`.'), '{z="1"} | a=~"5`." | b!~"5`."');
});

test('a binary number behind white space is refused in words of its own', (t) => {
  const afterSpace = 'parse error at line 1, col 3: decimal literal has no digits';
  for (const query of ['- 0b11', '- 0B', '+\t0b12+1', '+ 0b1.5'])
    t.is(
      refusal(t, () => parseQuery(query)),
      afterSpace,
      query,
    );
  t.is(
    refusal(t, () => parseQuery('1+0b12')),
    "parse error at line 1, col 3: invalid digit '2' in binary literal",
  );
  t.is(
    refusal(t, () => parseQuery('1+0b11')),
    'parse error : unable to parse literal as a float: strconv.ParseFloat: parsing "0b11": invalid syntax',
  );
});

test('a long query is read in steps, as at once, and no other query shares its patterns between them', (t) => {
  const query = `{app="a"} | json ${'| ms > 1 '.repeat(1_000)}|~ "x{800}" ${'| ms > 1 '.repeat(1_000)}`;
  const wanted = parseQuery(query);
  const readings = Array.from({ length: 8 }, () => parseSteps(query));
  for (let steps = 0; ; steps += 1) {
    const [first, ...others] = readings.map((reading) => reading.next());
    if (first?.done !== true) continue;
    t.true(steps > 50, `${steps} steps`);
    for (const { value } of [first, ...others]) t.deepEqual(value, wanted);
    return;
  }
});
