import test from 'ava';
import { LabelSet } from '../../../core/base/label-set.js';
import { evaluateEntry, parseQuery, type PipelineEntry } from '../../../core/logql/index.js';

const entry: PipelineEntry = {
  stream: LabelSet.from([['app', 'shop']]),
  structuredMetadata: LabelSet.from([['trace_id', 'ab']]),
  timestampNs: 1_700_000_000_000_000_000n,
  line: 'level=info took=1.5s',
};

test('a log query gives the line and its labels, in one set and by group', (t) => {
  const query = parseQuery('{app="shop"} | logfmt | line_format "{{.level}}!"');
  const result = evaluateEntry(query, entry);
  t.is(result.line, 'info!');
  t.is(result.labels.json, '{"app":"shop","level":"info","took":"1.5s","trace_id":"ab"}');
  t.is(result.groups.parsed.json, '{"level":"info","took":"1.5s"}');
  t.is(result.groups.structuredMetadata.json, '{"trace_id":"ab"}');
  t.is(result.sample, undefined);
  t.deepEqual(evaluateEntry(query, entry), result);
});

test('a metric query gives the sample and its series', (t) => {
  const result = evaluateEntry(
    'sum by (level) (sum_over_time({app="shop"} | logfmt | unwrap duration(took) [1m]))',
    entry,
  );
  t.is(result.sample, 1.5);
  t.is(result.labels.json, '{"level":"info"}');
  t.is(result.line, entry.line);
});

test('the first range aggregation of an expression is the one that is evaluated', (t) => {
  const result = evaluateEntry(
    '2 * (max by (level) (bytes_over_time({app="shop"} | logfmt [1m])) / rate({app="shop"}[1m]))',
    entry,
  );
  t.is(result.sample, entry.line.length);
  t.is(result.labels.json, '{"app":"shop","level":"info","took":"1.5s","trace_id":"ab"}');
});

test('what selector or stages leave out is not kept', (t) => {
  const texts = [
    '{app="other"}',
    '{app="shop"} |= "never"',
    'rate({app=~".+", app!="shop"}[1m])',
    'rate({app="shop"} | unwrap x [1m])',
    'vector(1)',
  ];
  for (const text of texts) {
    const result = evaluateEntry(text, entry);
    t.false(result.kept, text);
    t.is(result.labels.size, 0, text);
    t.is(result.sample, undefined, text);
  }
});
