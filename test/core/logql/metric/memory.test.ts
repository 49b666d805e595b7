import test from 'ava';
import { defaultMetricLimits } from '../../../../core/logql/metric/index.js';
import { MemoryAccount } from '../../../../core/base/memory/account.js';
import { evaluate, instant, range, type ShortEntry } from './run-query.js';

const mib = 1024 * 1024;

const many: readonly ShortEntry[] = Array.from({ length: 3_000 }, (_none, index) => [
  5 + index / 1000,
  `id=id-${index} pod=p-${index % 7}`,
]);
const columns = range(0, 11_000, 1);

test('a label that grows by itself is refused before it fills the memory', async (t) => {
  let query = 'count_over_time({app="a"} | logfmt [5m])';
  for (let depth = 0; depth < 12; depth += 1)
    query = `label_replace(${query}, "pod", "$1$1$1$1", "pod", "(.*)")`;
  const memory = new MemoryAccount(mib);
  await t.throwsAsync(evaluate(query, many.slice(0, 5), instant(10), { memory }), {
    message: /^label_replace produces a value of label "pod" that is longer than 65536 characters/,
  });
});

test('groups of many series over many columns are counted without holding a column of each', async (t) => {
  const memory = new MemoryAccount(16 * mib);
  const query = 'count(sum by (id) (count_over_time({app="a"} | logfmt [1h])))';
  const result = await evaluate(query, many, columns, { maxSeries: 0, memory });
  t.is(result.kind === 'matrix' && result.series[0]?.points[10]?.value, 3_000);
  t.true(memory.peak < 8 * mib);
});

test('series over many columns that have to be held are refused at the limit', async (t) => {
  for (const query of [
    'sum by (id) (count_over_time({app="a"} | logfmt [1h])) > 0',
    'topk(1, sum by (id) (count_over_time({app="a"} | logfmt [1h])))',
    'max by (id) (count_over_time({app="a"} | logfmt [1h]))',
    'count_over_time({app="a"} | logfmt [1h]) and count_over_time({app="a"} | logfmt [1h])',
    'count_over_time({app="a"} | logfmt [1h])',
  ]) {
    const memory = new MemoryAccount(16 * mib);
    await t.throwsAsync(
      evaluate(query, many, columns, { maxSeries: 0, memory }),
      { message: /-max-query-memory$/ },
      query,
    );
    t.true(memory.peak < 20 * mib, query);
  }
});

test('more series than an answer may have are refused as they appear', async (t) => {
  for (const query of [
    'count_over_time({app="a"} | logfmt [1h])',
    'count(sum by (id) (count_over_time({app="a"} | logfmt [1h])))',
    'max by (id) (count_over_time({app="a"} | logfmt [1h]))',
  ]) {
    const memory = new MemoryAccount(128 * mib);
    await t.throwsAsync(evaluate(query, many, columns, { memory, splitMs: 3_600_000 }), {
      message: /^maximum number of series \(500\) reached/,
    });
  }
});

test('lines do not stay because a label was made of them', async (t) => {
  const long = 'x'.repeat(1000);
  const entries = many.map(([seconds, line]): ShortEntry => [seconds, `${line} rest=${long}`]);
  const memory = new MemoryAccount(8 * mib);
  const query = 'count(count_over_time({app="a"} | logfmt | drop rest [1h]))';
  const result = await evaluate(query, entries, instant(100), {
    ...defaultMetricLimits,
    maxSeries: 0,
    memory,
  });
  t.is(result.kind === 'vector' && result.samples[0]?.point.value, 3_000);
});
