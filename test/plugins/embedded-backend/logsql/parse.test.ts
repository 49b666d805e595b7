import test from 'ava';
import fc from 'fast-check';
import { parseQueryArg } from '../../../../plugins/embedded-backend/engine/language.js';
import { HttpError } from '../../../../plugins/embedded-backend/http/errors.js';
import {
  LogsqlError,
  build,
  parseFilter,
  parseLogsql,
  printFilter,
  printEmbeddedQuery,
} from '../../../../plugins/embedded-backend/logsql/index.js';
import { readRecordings } from './recorded-rows.js';
import { anyCharacter } from '../../../setup/text.js';
import { deepRuns } from '../../../setup/runs.js';

function same(
  t: { is: (a: string, b: string, message?: string) => unknown },
  text: string,
  printed: string,
): void {
  t.is(printFilter(parseFilter(text)), printed, text);
}

test('or binds weaker than what stands side by side', (t) => {
  same(t, 'a b or c d', '_msg:"a" _msg:"b" or _msg:"c" _msg:"d"');
  same(t, 'a AND (b OR c)', '_msg:"a" (_msg:"b" or _msg:"c")');
  same(t, 'f:(a or !b)', 'f:"a" or !f:"b"');
  same(t, '-a not b !(c d)', '!_msg:"a" !_msg:"b" !(_msg:"c" _msg:"d")');
});

test('words, strings and operators are told apart', (t) => {
  same(t, 'a:b:c', 'a:"b:c"');
  same(t, '"a:b":c', '"a:b":"c"');
  same(t, 'k8s.pod-name/x:y', '"k8s.pod-name/x":"y"');
  same(t, 'a:>=10 b:<-5 c:!=x d:!~"y" e:="p"*', 'a:>="10" b:<"-5" !c:="x" !d:~"y" e:="p"*');
  same(t, "`a\"b` 'c\\'d'", '_msg:"a\\"b" _msg:"c\'d"');
  same(t, '"\\x41\\102\\u00e9\\U0001F600\\xc3\\xa9"', '_msg:"ABé😀é"');
  same(t, 'in:x "or":y "in":z', '"in":"x" "or":"y" "in":"z"');
  same(t, 'or', '_msg:"or"');
  same(t, '*:x pre*:y pre* *x* f:*', '*:"x" pre*:"y" _msg:"pre"* _msg:*"x"* f:*');
  same(t, 'exact(a) f:exact("b"*) re("x.y") f:i("Q"*)', '_msg:="a" f:="b"* _msg:~"x.y" f:i("Q"*)');
  same(
    t,
    'f:range(1, 2] f:len_range(5, inf) f:ipv4_range("10.0.0.0/30")',
    'f:range("1", "2"] f:len_range(5, inf) f:ipv4_range("10.0.0.0","10.0.0.3")',
  );
});

test('comments, line breaks and a closing semicolon are skipped', (t) => {
  t.is(printEmbeddedQuery(parseLogsql('a # first\n  b\n| limit 5 # rest\n;')), '_msg:"a" _msg:"b" | limit 5');
});

test('times mean their whole written precision where they close a range', (t) => {
  const bounds = (text: string): unknown => {
    const filter = parseFilter(text);
    return filter.kind === 'time' ? [filter.min, filter.max] : filter;
  };
  const day = 1_791_676_800_000_000_000n;
  const second = 1_000_000_000n;
  t.deepEqual(bounds('_time:2026-10-11'), [day, day + 86_400n * second - 1n]);
  t.deepEqual(bounds('_time:2026-10'), [day - 10n * 86_400n * second, day + 21n * 86_400n * second - 1n]);
  t.deepEqual(bounds('_time:[2026-10-11T00:00:00Z, 2026-10-11T00:00:01Z]'), [day, day + 2n * second - 1n]);
  t.deepEqual(bounds('_time:(2026-10-11T00:00:00Z, 2026-10-11T00:00:01Z)'), [day + 1n, day + second - 1n]);
  t.deepEqual(bounds('_time:>2026-10-11T02:00:00+02:00'), [day + 1n, undefined]);
  t.deepEqual(bounds('_time:<=2026-10-11T00:00:00.123Z'), [undefined, day + 123_999_999n]);
  t.deepEqual(bounds('_time:[1791676800, 1791676801000]'), [day, day + second]);
  t.deepEqual(bounds('_time:2026-10-11 offset 1d'), [day - 86_400n * second, day - 1n]);
  t.deepEqual(bounds('_time:5m offset 1h'), {
    kind: 'time-relative',
    duration: 300n * second,
    offset: 3600n * second,
  });
  t.deepEqual(bounds('_time:>1h'), { kind: 'time-relative', offset: 3600n * second });
});

test('a subquery in a list is told from the values of a list', (t) => {
  t.is(parseFilter('f:in(a, "b c")').kind, 'field');
  const filter = parseFilter('f:in({app="x"} | fields g)');
  t.like(filter, { kind: 'field', test: { test: { kind: 'subquery', test: 'in' } } });
  t.deepEqual(parseFilter(printFilter(filter)), filter);
  t.throws(() => parseFilter('f:in(a b | sort by (x))'), { instanceOf: LogsqlError });
});

test('stats without its name, and a filter without its name, are pipes when nothing else can be meant', (t) => {
  t.is(printEmbeddedQuery(parseLogsql('* | by (a) count() c')), '* | stats by (a) count(*) as c');
  t.is(printEmbeddedQuery(parseLogsql('* | !a')), '* | filter !_msg:"a"');
  t.is(printEmbeddedQuery(parseLogsql('* | level:x')), '* | filter level:"x"');
  t.throws(() => parseLogsql('* | level'), {
    message: /unexpected pipe name "level"; probably, 'filter' is missing/,
  });
});

test('options are read', (t) => {
  t.deepEqual(
    parseLogsql('options(concurrency=2, ignore_global_time_filter=true, time_offset=-1h30m) *').options,
    {
      concurrency: 2,
      ignoreGlobalTimeFilter: true,
      timeOffset: -5_400_000_000_000n,
    },
  );
  t.throws(() => parseLogsql('options(concurrency=x) *'), { instanceOf: LogsqlError });
});

test('bad queries are refused with a reason and the place', (t) => {
  const bad = [
    '',
    ' ',
    'a)',
    'a |',
    '(a',
    'f:',
    'f:range[1,x]',
    'f:range[1,2',
    'f:len_range(1)',
    'f:len_range(a,b)',
    'f:ipv4_range(x)',
    'f:seq(',
    'f:i(a b)',
    '{a}',
    '{a=}',
    '{a="b" c="d"}',
    '{a="b" or }',
    '{a=~"["}',
    'f:{a="b"}',
    '_time:[1,',
    '_time:[1;2]',
    '_time:5',
    '* | sort by (a',
    '* | first 0',
    '* | limit -1',
    '* | top 0 by (a)',
    '* | uniq',
    '* | uniq by (a) with x',
    '* | stats count() a, sum(b) a',
    '* | stats by (a) count() a',
    '* | stats quantile(2, a)',
    '* | stats quantile(x)',
    '* | stats row_min()',
    '* | stats field_min(a)',
    '* | stats by (a:x) count()',
    '* | math a +',
    '* | math round()',
    '* | math 1x',
    '* | format "<a"',
    '* | extract "<a><b>"',
    '* | extract "x<_>"',
    '* | replace ("a")',
    '* | replace_regexp ("[", "")',
    '* | copy a',
    '* | fields a*b*,',
    '* | sort by (a) partition by (b)',
    '* | len(a',
    '* | unroll',
    '* | facets x',
    '* | union',
    '* | union a',
    '* | union (a',
    'stats count()',
    'a | fields b c',
    '*x',
  ];
  for (const text of bad) t.throws(() => parseLogsql(text), { instanceOf: LogsqlError }, text);
});

test('any text is either read or refused with a LogsqlError', (t) => {
  const tokens = [
    'a',
    '"b"',
    '*',
    '(',
    ')',
    ':',
    '|',
    '{',
    '}',
    '=',
    '!',
    '~',
    ',',
    '<',
    '>',
    '[',
    ']',
    ' ',
    'or',
    'in',
    'stats',
    'by',
    'count',
    '_time',
    '5m',
    'sort',
    '-',
    '#',
    ';',
    '"',
    'i',
    'range',
    'math',
    'extract',
    'if',
  ];
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...tokens), { maxLength: 12 }),
        fc.string({ unit: anyCharacter, maxLength: 6 }),
        (some, other) => {
          const text = some.join('') + other;
          try {
            const query = parseLogsql(text);
            t.deepEqual(parseLogsql(printEmbeddedQuery(query)), query);
          } catch (error) {
            if (
              !(error instanceof LogsqlError) &&
              !(error instanceof Error && error.name === 'InexpressibleNameError')
            )
              throw error;
          }
        },
      ),
      { numRuns: deepRuns(700, 2000) },
    ),
  );
});

test('a query nested beyond reason is refused, a long or a flat one is not', (t) => {
  for (const text of [
    '('.repeat(16_000),
    '!'.repeat(16_000),
    `f${':'.repeat(16_000)}x`,
    `* | math ${'('.repeat(16_000)}`,
    'f:in('.repeat(3_000),
  ]) {
    t.throws(
      () => parseLogsql(text),
      { instanceOf: LogsqlError, message: /nested more than 500 levels/ },
      text.slice(0, 20),
    );
  }
  t.notThrows(() => parseLogsql(`${'('.repeat(400)}a${')'.repeat(400)}`));
  t.notThrows(() => parseLogsql(`a${' or b'.repeat(10_000)}`));
});

test('reasons have the words of the recordings, but for a few that are known', (t) => {
  const known = ['err-08', 'err-27', 'err-28', 'err-33'];
  const checked = readRecordings().filter(
    (one) => /^(?:err|pipe|field|msg)-\d+$/.test(one.id) && one.status === 400 && !known.includes(one.id),
  );
  t.true(checked.length > 30);
  for (const one of checked) {
    const text = String(one.params['query']);
    t.throws(() => parseQueryArg(text), { instanceOf: HttpError, message: one.body.trim() }, one.id);
  }
});

test('helpers drop what says nothing', (t) => {
  t.deepEqual(build.and(), build.everything);
  t.deepEqual(build.and(build.everything, build.present('a')), build.present('a'));
  t.deepEqual(build.or(), build.nothing);
  t.deepEqual(build.or(build.present('a'), build.everything), build.everything);
  t.deepEqual(build.not(build.not(build.present('a'))), build.present('a'));
  t.throws(() => build.ipv4Range('f', '10.0.0.0/33'), { instanceOf: LogsqlError });
});
