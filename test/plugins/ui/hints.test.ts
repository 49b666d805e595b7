import test from 'ava';
import { makeHost } from '../../../core/testing/index.js';
import { explainForPage } from '../../../plugins/ui/explain.js';

async function hints(query: string): Promise<readonly string[]> {
  const explained = await explainForPage(new Map([['query', [query]]]), makeHost(), undefined);
  return explained.hints.map(({ text }) => text);
}

async function told(query: string, part: RegExp): Promise<boolean> {
  return (await hints(query)).some((text) => part.test(text));
}

test('a query that is as cheap as it can be gets no hint', async (t) => {
  for (const query of [
    '{app="shop"} |= "timeout"',
    '{app=~"shop|cart"} |~ "took [0-9]+ms"',
    'sum by (app) (count_over_time({app="shop"}[5m]))',
    '1 + 1',
  ])
    t.deepEqual(await hints(query), [], query);
});

test('a selector that narrows nothing is told, and one that does is not', async (t) => {
  const part = /No label narrows/;
  for (const query of ['{app=~".+"}', '{app!="shop", a=~".+"} |= "x"', 'sum(rate({a=~".+"}[5m]))'])
    t.true(await told(query, part), query);
  for (const query of ['{app="shop"}', '{app=~".+", env="prod"}', '{app=~"sh.*"}'])
    t.false(await told(query, part), query);
});

test('a parsed label that a line filter could stand in for is told', async (t) => {
  const part = /Every line of the selection is parsed/;
  t.true(await told('{app="shop"} | unpack | order="A-123"', part));
  t.true(await told('{app="shop"} | line_format "{{.a}}" | logfmt | level="xyz" | order="A-123"', part));
  for (const query of [
    // The backend searches for the value itself.
    '{app="shop"} | json | order="A-123"',
    '{app="shop"} | logfmt | level="x" | order="A-123"',
    '{app="shop"} |= "A-123" | unpack | order="A-123"',
    '{app="shop"} | order="A-123"',
    '{app="shop"} | json | order!="A-123"',
    // The spelling of such a value in the line is unknown.
    '{app="shop"} | json | order="a \\"b\\""',
    '{app="shop"} | json | detected_level="error"',
  ])
    t.false(await told(query, part), query);
});

test('filters that the backend must try on every line are told', async (t) => {
  t.true(await told('{app="shop"} |~ "(?i)timeout"', /ignores case/));
  t.false(await told('{app="shop"} |= "timeout"', /ignores case/));
  t.true(await told('{app="shop"} |~ "x*"', /matches the empty text/));
  t.true(await told('{app="shop"} !> "<_> took <_>ms"', /negated filter/));
});

test('metrics that cost more than they need are told', async (t) => {
  t.true(await told('count_over_time({app="shop"}[5m])', /Without sum by/));
  t.false(await told('sum by (app) (count_over_time({app="shop"}[5m]))', /Without sum by/));
  t.true(
    await told(
      'sum(sum_over_time({app="shop"} | unwrap size [5m]))',
      /Nothing in front of unwrap reads the line: size/,
    ),
  );
  t.false(await told('sum(sum_over_time({app="shop"} | logfmt | unwrap size [5m]))', /reads the line/));
  t.true(
    await told(
      'sum(sum_over_time({app="shop"} | logfmt --strict | unwrap size [5m]))',
      /unwrap reads every row/,
    ),
  );
  t.false(
    await told(
      'sum(sum_over_time({app="shop"} |= "size=" | logfmt --strict | unwrap size [5m]))',
      /unwrap reads every row/,
    ),
  );
});

test('a query that can be written with the same answers is shown as it would be', async (t) => {
  const query = 'sum(sum by (app) (rate({app="shop"}[5m])))';
  const explained = await explainForPage(new Map([['query', [query]]]), makeHost(), undefined);
  t.deepEqual(
    explained.hints.map(({ example }) => example),
    ['sum(rate({app="shop"}[5m]))'],
  );
  t.deepEqual(
    explained.hints.map(({ rewrite }) => rewrite),
    [{ query: 'sum(rate({app="shop"}[5m]))', answers: 'same' }],
  );
});
