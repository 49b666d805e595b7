import test from 'ava';
import fc from 'fast-check';
import { parseQuery } from '../../../core/logql/index.js';
import { makeHost } from '../../../core/testing/index.js';
import { paramContext } from '../../../core/wire/api/params/index.js';
import { quotedTexts } from '../../../core/logql/pipeline/filter-test.js';
import { plainTexts } from '../../../core/logql/regexp/plain-texts.js';
import { outlineQuery, valueUnitOf } from '../../../plugins/ui/outline.js';
import { topValuesRequest } from '../../../plugins/ui/top-values.js';
import { anyCharacter } from '../../setup/text.js';

const outline = (query: string): ReturnType<typeof outlineQuery> =>
  outlineQuery(new Map([['query', [query]]]), 'reject');

test('the outline of a query has its lines, its selector, and the selector without each label', (t) => {
  t.deepEqual(outline('sum(rate({app=~"a|b", env!="x"} |= "y" [5m]))'), {
    kind: 'metric',
    lines: '{app=~"a|b", env!="x"} |= "y"',
    count: 1,
    selector: '{app=~"a|b", env!="x"}',
    labels: [
      { name: 'app', values: ['a', 'b'], others: '{env!="x"}' },
      { name: 'env', values: [], others: '{app=~"a|b"}' },
    ],
    unit: 'per-second',
  });
  t.like(outline(' '), { kind: 'empty', selector: '', labels: [] });
  t.like(outline('{app="a"} | json'), { kind: 'log', labels: [{ name: 'app', values: ['a'], others: '' }] });
  t.like(outline('vector(1)'), { kind: 'metric', lines: '', count: 0, selector: '' });
});

test('values in a pattern are read back as they were written, and other patterns are no list', (t) => {
  for (const pattern of ['a.*', 'a+', '(a|b)', 'a\\d', '[ab]', '^a', 'a\\'])
    t.is(plainTexts(pattern), undefined, pattern);
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter }), { minLength: 1, maxLength: 5 }), (texts) => {
      t.deepEqual(plainTexts(quotedTexts(texts)), texts);
    }),
  );
});

test('the unit of values follows from the query, or is none', (t) => {
  for (const [query, unit] of [
    ['rate({a="b"}[5m])', 'per-second'],
    ['sum(rate({a="b"}[5m])) * 60', 'none'],
    ['topk(3, sum by (a) (bytes_rate({a="b"}[5m])))', 'bytes-per-second'],
    ['bytes_over_time({a="b"}[5m]) > 10', 'bytes'],
    ['count_over_time({a="b"}[5m])', 'none'],
    ['avg_over_time({a="b"} | unwrap duration(took) [5m])', 'seconds'],
    ['rate({a="b"} | unwrap bytes(size) [5m])', 'bytes-per-second'],
    ['count(rate({a="b"}[5m]))', 'none'],
    ['rate({a="b"}[5m]) / rate({a="c"}[5m])', 'none'],
    ['rate({a="b"}[5m]) or rate({a="c"}[5m])', 'per-second'],
  ] as const) {
    const ast = parseQuery(query);
    t.is(ast.kind === 'log' ? 'log' : valueUnitOf(ast), unit, query);
  }
});

test('the top values of a field are counted over the lines of the query, with the parser that finds it', (t) => {
  const host = makeHost();
  const ask = (more: Readonly<Record<string, string>>): string =>
    topValuesRequest(
      new Map(
        Object.entries({ start: '1700000000', end: '1700000060', field: 'status', ...more }).map(
          ([name, value]) => [name, [value]],
        ),
      ),
      paramContext(host, { nowNs: () => 0n }),
    ).query.text;
  t.is(
    ask({ query: '{app="shop"} |= "x"', parser: 'json' }),
    'topk(10,sum by (status)(count_over_time({app="shop"} |= "x" | json | status!="" | drop __error__[1m])))',
  );
  t.is(
    ask({ query: 'sum(rate({app="shop"} | logfmt [5m]))', parser: 'logfmt' }),
    'topk(10,sum by (status)(count_over_time({app="shop"} | logfmt | status!="" | drop __error__[1m])))',
  );
  t.throws(() => ask({ query: 'vector(1)' }), { message: /selects no lines/ });
  t.throws(() => parseQuery(ask({ query: '{app="shop"}', field: 'a) (b' })));
});
