import test from 'ava';
import fc from 'fast-check';
import { printQuery } from '../../../../core/victoria/logsql/print.js';
import {
  InexpressibleNameError,
  build,
  parseFilter,
  parseLogsql,
  printFilter,
  printEmbeddedQuery,
  quoteText,
} from '../../../../plugins/embedded-backend/logsql/index.js';
import type { LogsqlFilter } from '../../../../plugins/embedded-backend/logsql/index.js';
import { anyQuery, anyText } from '../../../plugins/embedded-backend/logsql/arbitraries.js';
import { anyCharacter } from '../../../setup/text.js';

test('a printed query reads back as the same tree', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(anyQuery, (query) => {
        t.deepEqual(parseLogsql(printEmbeddedQuery(query)), query, printEmbeddedQuery(query));
      }),
      { numRuns: 1500 },
    ),
  );
});

/** The kinds of the nodes of a filter, without its texts. */
function shapeOf(filter: LogsqlFilter): unknown {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return [filter.kind, filter.parts.map(shapeOf)];
    case 'not':
      return [filter.kind, shapeOf(filter.filter)];
    case 'field':
      return [filter.kind, filter.test.kind];
    default:
      return filter.kind;
  }
}

test('no text changes the structure of the query it is put into', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(anyText, anyText, (name, value) => {
        const field = name === '' || name === '_time' || name.endsWith('*') ? 'f' : name;
        const filter = build.and(
          build.streamMatch(build.matcher(field, '=', value), build.matcher('b', '!=', value)),
          build.or(build.exact(field, value), build.not(build.substring(field, value))),
          build.phrase(field, value),
          build.oneOf(field, [value]),
        );
        const query = build.query(filter, [
          build.where(build.exact('a', value)),
          build.stats([field], build.statsFunction('count', [], 'count of')),
          build.limit(5),
        ]);
        const read = parseLogsql(printQuery(query));
        t.deepEqual(shapeOf(read.filter), shapeOf(query.filter));
        t.deepEqual(read, query);
      }),
      { numRuns: 2000 },
    ),
  );
});

test('quoted text has no raw quote, control character or line break', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const quoted = quoteText(text);
        t.regex(quoted.slice(1, -1), /^(?:[^"\\\u0000-\u001f\u2028\u2029]|\\.)*$/u);
      }),
    ),
  );
});

test('a lone surrogate becomes the replacement character, as on every wire', (t) => {
  t.is(quoteText('a\ud800b'), '"a\\ufffdb"');
  t.deepEqual(parseFilter(printFilter(build.exact('f', '\udc00'))), build.exact('f', '\ufffd'));
});

test('the value "*" in a list is not taken for any value', (t) => {
  t.deepEqual(parseFilter(printFilter(build.oneOf('f', ['*']))), build.oneOf('f', ['*']));
  t.deepEqual(parseFilter('f:in("*")'), build.substring('f', ''));
});

test('a name that ends with "*" is refused where a list would read it as a prefix, and one that math would read as a number', (t) => {
  t.throws(() => printQuery(build.query(build.everything, [build.fields('a*')])), {
    instanceOf: InexpressibleNameError,
  });
  const entries = [{ expr: { kind: 'field', name: '5xx' }, as: 'x' }] as const;
  t.throws(() => printQuery(build.query(build.everything, [{ kind: 'math', entries }])), {
    instanceOf: InexpressibleNameError,
  });
  t.is(printFilter(build.exact('a*', 'x')), '"a*":="x"');
});

test('queries are printed in one plain form', (t) => {
  const query = build.query(
    build.and(
      build.streamMatch(build.matcher('app', '=~', 'a|b'), build.matcher('service.name', '!=', 'x')),
      build.timeRange({ startNs: 1_791_676_800_000_000_000n, endNs: 1_791_676_860_000_000_000n }),
      build.or(build.substring('_msg', 'say "hi"'), build.regexp('_msg', '(?-s)a.b')),
    ),
    [
      build.stats(['level', build.timeBucket(60_000_000_000n, -1n)], build.statsFunction('count', [], 'c')),
      build.sortByTime(10, true),
    ],
  );
  t.is(
    printQuery(query),
    '{app=~"a|b",service.name!="x"} _time:[2026-10-11T00:00:00.000000000Z,2026-10-11T00:00:59.999999999Z] ' +
      '(_msg:*"say \\"hi\\""* or _msg:~"(?-s)a.b") ' +
      '| stats by (level, _time:60000000000ns offset -1ns) count(*) as c | sort by (_time desc) limit 10',
  );
});
