import test from 'ava';
import { parseQuery, LogqlError } from '../../../core/logql/index.js';
import { ApiError } from '../../../core/plugin/index.js';
import { makeHost } from '../../../core/testing/index.js';
import { explainForPage, type PageExplanation } from '../../../plugins/ui/explain.js';

function explain(params: Readonly<Record<string, string>>): Promise<PageExplanation> {
  const all = new Map(Object.entries(params).map(([name, value]) => [name, [value]]));
  return explainForPage(all, makeHost(), undefined);
}

test('a log query comes with the histogram that Grafana asks beside it', async (t) => {
  const { kind, histogram } = await explain({ query: '{app="shop"} |= "a" # why', step: '15' });
  t.is(kind, 'log');
  t.is(
    histogram,
    'sum by (level,detected_level)(count_over_time({app="shop"} |= "a" | drop __error__[15s]))',
  );
});

test('the histogram is a query that reads back, whatever stands in the lines asked for', async (t) => {
  for (const query of [
    '{a="b"} |= "| drop )"',
    '{a="b"} | json | line_format "{{.x}}" | x=~"[}]"',
    '{a="b"} |~ `"\\n`',
  ]) {
    const { histogram } = await explain({ query, step: '3600' });
    t.is(parseQuery(histogram ?? '').kind, 'vector-aggregation', query);
  }
});

test('a metric query has no histogram', async (t) => {
  const { kind, histogram, reads } = await explain({ query: 'rate({app="shop"}[5m])' });
  t.is(kind, 'metric');
  t.is(histogram, undefined);
  t.is(reads.length, 1);
});

test('a query that cannot be read is refused with Loki’s text', async (t) => {
  const error = await t.throwsAsync(explain({ query: '{app="shop"} |= error' }), { instanceOf: LogqlError });
  t.regex(error.message, /^parse error at line 1, col 17: /);
  await t.throwsAsync(explain({}), { instanceOf: LogqlError });
});

test('a step that is no number of seconds is refused', async (t) => {
  for (const step of ['0', '-1', '1.5', 'x', '9999999999'])
    await t.throwsAsync(explain({ query: '{a="b"}', step }), { instanceOf: ApiError }, step);
});
