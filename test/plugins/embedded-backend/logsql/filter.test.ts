import test from 'ava';
import fc from 'fast-check';
import {
  EmbeddedTest,
  LogsqlError,
  MapRow,
  build,
  compileFilter,
  compileStreamFilter,
  parseFilter,
} from '../../../../plugins/embedded-backend/logsql/index.js';
import type {
  LogsqlFilter,
  RowView,
  StreamFilter,
  StreamMatcher,
  ForeignTest,
  ValueTest,
} from '../../../../plugins/embedded-backend/logsql/index.js';
import { naiveMatch } from './naive-filter.js';
import { deepRuns } from '../../../setup/runs.js';

const pieces = [
  'a',
  'b',
  'foo',
  'bar',
  'Foo',
  ' ',
  '-',
  '_',
  '.',
  '1',
  '9',
  's',
  'é',
  'ж',
  'Ж',
  '日',
  '😀',
  '\n',
  '"',
  '10',
  '-3',
  '2.5',
  '7s',
];
// The naive filter supports numbers with digits on both sides of the point, and no addresses; `.9`, `9.` and addresses have separate tests.
const value = fc
  .array(fc.constantFrom(...pieces), { maxLength: 4 })
  .map((some) => some.join(''))
  .filter((text) => !/(?:^|[^0-9])\.|\.(?:$|[^0-9])|\..*\..*\./.test(text));
const numberText = fc.constantFrom('0', '9', '10', '-3', '2.5', '7s', '1');
const name = fc.constantFrom('app', 'env', '_msg', 'x', 'y', 'x.z', 'missing');
const now = 1_000_000n;

const plainTest: fc.Arbitrary<ValueTest> = fc.oneof(
  fc.record({ kind: fc.constantFrom('phrase', 'prefix', 'exact', 'exact-prefix', 'substring'), text: value }),
  fc.record({
    kind: fc.constant('regexp'),
    pattern: fc.constantFrom('a', '^foo', 'o.b', 'b$', '[0-9]+', 'x|', '^$', 'é|ж', '.', '.+'),
  }),
  fc.record({ kind: fc.constant('in'), values: fc.array(value, { minLength: 1, maxLength: 3 }) }),
  fc.record({
    kind: fc.constant('compare'),
    op: fc.constantFrom('>', '>=', '<', '<='),
    value: fc.oneof(numberText, value),
  }),
);
const foreignTest: fc.Arbitrary<ForeignTest> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('contains-all', 'contains-any'),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('any-case'), text: value, prefix: fc.boolean() }),
  fc.record({
    kind: fc.constant('range'),
    min: numberText,
    max: numberText,
    minIncluded: fc.boolean(),
    maxIncluded: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('string-range'), from: value, to: value }),
  fc.record(
    { kind: fc.constant('len-range'), min: fc.nat(3), max: fc.nat(6) },
    { requiredKeys: ['kind', 'min'] },
  ),
  fc.record({ kind: fc.constant('eq-field'), other: name }),
);
const valueTest = fc.oneof(
  plainTest,
  foreignTest.map((test) => new EmbeddedTest(test)),
);
const matcher: fc.Arbitrary<StreamMatcher> = fc.oneof(
  fc.record({ kind: fc.constant('value'), label: name, op: fc.constantFrom('=', '!='), value }),
  fc.record({
    kind: fc.constant('value'),
    label: name,
    op: fc.constantFrom('=~', '!~'),
    value: fc.constantFrom('foo|', 'a.*', '.+', '', '[a-z]+'),
  }),
  fc.record({
    kind: fc.constant('list'),
    label: name,
    op: fc.constantFrom('in', 'not_in'),
    values: fc.array(value, { maxLength: 3 }),
  }),
);
const instant = fc.bigInt({ min: 999_990n, max: 1_000_005n });
const leaf: fc.Arbitrary<LogsqlFilter> = fc.oneof(
  fc.constant(build.everything),
  fc.record({
    kind: fc.constant('stream'),
    groups: fc.array(fc.array(matcher, { maxLength: 2 }), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant('time'), min: instant, max: instant }, { requiredKeys: ['kind'] }),
  fc.record(
    { kind: fc.constant('time-relative'), duration: fc.bigInt(0n, 9n), offset: fc.bigInt(0n, 5n) },
    { requiredKeys: ['kind', 'offset'] },
  ),
  fc.record({
    kind: fc.constant('field'),
    field: fc.oneof(
      name.map((text) => ({ kind: 'name', name: text }) as const),
      fc.constantFrom('', 'x', 'e').map((text) => ({ kind: 'prefix', prefix: text }) as const),
    ),
    test: valueTest,
  }),
);
const filter: fc.Arbitrary<LogsqlFilter> = fc.letrec<{ filter: LogsqlFilter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record({
      kind: fc.constantFrom('and', 'or'),
      parts: fc.array(tie('filter'), { minLength: 2, maxLength: 4 }),
    }),
    fc.record({ kind: fc.constant('not'), filter: tie('filter') }),
  ),
})).filter;
// Prints its fields in the report of a failed property.
class ShownRow extends MapRow {
  override toString(): string {
    return JSON.stringify([...this.fields]);
  }
}

const row: fc.Arbitrary<RowView> = fc
  .tuple(
    fc.dictionary(
      name.filter((text) => text !== 'missing'),
      value,
      { maxKeys: 6 },
    ),
    instant,
  )
  .map(([fields, timeNs]) => {
    const present = Object.entries(fields).filter(([, text]) => text !== '');
    const labels = present.filter(([label]) => label === 'app' || label === 'env').sort();
    const stream = `{${labels.map(([label, text]) => `${label}=${JSON.stringify(text)}`).join(',')}}`;
    return new ShownRow(new Map([...present, ['_stream', stream]]), timeNs);
  });

test('compiled filters agree with their plain meaning on any row', (t) => {
  let matched = 0;
  t.notThrows(() =>
    fc.assert(
      fc.property(filter, fc.array(row, { minLength: 1, maxLength: 5 }), (one, rows) => {
        const matches = compileFilter(one, { nowNs: now });
        for (const each of rows) {
          const expected = naiveMatch(one, each, now);
          if (expected) matched++;
          if (matches(each) !== expected) return false;
        }
        return true;
      }),
      { numRuns: deepRuns(700, 2000) },
    ),
  );
  t.true(matched > 1000, 'the generated filters match a fair part of the rows');
});

function matches(text: string, fields: Record<string, string>): boolean {
  return compileFilter(parseFilter(text))(new MapRow(new Map(Object.entries(fields))));
}

test('phrases stop at borders of words, those of other scripts included', (t) => {
  t.true(matches('"日本"', { _msg: '日本 語' }));
  t.false(matches('"日本"', { _msg: '日本語' }));
  t.false(matches('error', { _msg: 'no_error' }));
  t.true(matches('"="', { _msg: 'a==b' }));
  t.false(matches('café', { _msg: 'cafés' }));
  t.false(matches('a', { _msg: '😀a𝒜' }), 'a letter beyond the basic plane continues a word');
});

test('case is folded character by character', (t) => {
  t.true(matches('i("ΌΔΟΣ")', { _msg: 'όδοσ' }));
  t.true(matches('i(istanbul)', { _msg: 'İstanbul' }));
  t.false(matches('i("STRASSE")', { _msg: 'straße' }));
});

test('values compare by number across their forms', (t) => {
  for (const text of ['10.5', '1e2', '0x0B', '1_000', '5K', '5KiB', '1.5s', 'Inf', '+11'])
    t.true(matches('n:>10', { n: text }), text);
  for (const text of ['9', 'abc', '', ' 11', 'NaN', '010', '-11', '100us'])
    t.false(matches('n:>10', { n: text }), text);
  for (const text of ['-_', '_', '-', '-_._', '_._', '0'])
    t.true(matches('n:>=0', { n: text }) && matches('n:<="-_"', { n: text }), `${text} is zero`);
  t.true(matches('n:<"-_"', { n: '-5' }));
  t.false(matches('n:>"-_"', { n: 'a' }), 'a bound without digits is a number all the same');
  t.true(matches('n:>"2026-10-05"', { n: '2026-10-05T00:00:00Z' }));
  t.true(matches('ip:>10.0.0.9', { ip: '10.0.0.10' }));
});

test('the sequence filter wants its phrases one behind the other', (t) => {
  t.true(matches('seq(a, b)', { _msg: 'a x b' }));
  t.false(matches('seq(b, a)', { _msg: 'a x b' }));
  t.false(matches('seq(a, a)', { _msg: 'xa a' }));
});

test('address ranges take networks, pairs and single addresses', (t) => {
  t.true(matches('a:ipv4_range("10.0.0.0/8")', { a: '10.255.0.1' }));
  t.false(matches('a:ipv4_range("10.0.0.0/8")', { a: '11.0.0.1' }));
  t.true(matches('a:ipv4_range("10.0.0.5")', { a: '10.0.0.5' }));
  t.false(matches('a:ipv4_range("10.0.0.1","10.0.0.4")', { a: '10.0.0.5' }));
  t.true(matches('a:ipv6_range("2001:db8::/32")', { a: '2001:db8:1::ffff' }));
  t.true(matches('a:ipv6_range("::ffff:10.0.0.0","::ffff:10.0.0.9")', { a: '10.0.0.7' }));
  t.false(matches('a:ipv6_range("::1")', { a: 'nothing' }));
});

test('lists in JSON arrays, column types and patterns are tested', (t) => {
  t.true(matches('l:json_array_contains_any(b)', { l: '["a","b"]' }));
  t.false(matches('l:json_array_contains_any(b)', { l: 'b' }));
  t.true(matches('n:value_type(uint16)', { n: '300' }));
  t.true(matches('n:value_type(float64)', { n: '3.5' }));
  t.true(matches('n:value_type(ipv4)', { n: '1.2.3.4' }));
  t.false(matches('n:value_type(string)', { n: 'text' }));
  t.true(matches('pattern_match("id=<N> at <TIME>")', { _msg: 'x id=15 at 10:20:30.5' }));
  t.false(matches('pattern_match_full("id=<N>")', { _msg: 'id=15 more' }));
  t.true(matches('a:lt_field(b)', { a: '9', b: '10' }));
  t.false(matches('a:le_field(b)', { a: '1h', b: '59m' }));
});

test('a stream selector can be asked about labels alone', (t) => {
  const selector = parseFilter('{a="1",b!~"x.*" or c in ("2","3")}') as StreamFilter;
  const ask = (labels: Record<string, string>): boolean =>
    compileStreamFilter(selector)((label) => labels[label] ?? '');
  t.true(ask({ a: '1' }));
  t.false(ask({ a: '1', b: 'xy' }));
  t.true(ask({ c: '3' }));
  t.false(ask({}));
});

test('a subquery that has not been run cannot be evaluated', (t) => {
  t.throws(() => compileFilter(parseFilter('a:in(b:c | fields a)')), { instanceOf: LogsqlError });
});

test('a number may begin or end with its point, as in VictoriaLogs', (t) => {
  const inRange = compileFilter(
    {
      kind: 'field',
      field: { kind: 'name', name: 'x' },
      test: new EmbeddedTest({
        ...{ kind: 'range', min: '-1', max: '10' },
        ...{ minIncluded: true, maxIncluded: true },
      }),
    },
    { nowNs: 0n },
  );
  for (const text of ['.9', '9.', '-.5', '+.5'])
    t.true(inRange(new MapRow(new Map([['x', text]]), 0n)), text);
});
