import test from 'ava';
import { hiddenBeside, histogramOf, onlyLevels } from '../../../../plugins/ui/browser/model/histogram.js';
import { mergedValues, nextLabel } from '../../../../plugins/ui/browser/model/label-values.js';
import { parseLayout, usualLayout } from '../../../../plugins/ui/browser/model/layout.js';
import { countedPatterns, sparkPath } from '../../../../plugins/ui/browser/model/patterns.js';

test('values of a label stand by their volume, the others by name, and chosen ones that are gone stay', (t) => {
  t.deepEqual(
    mergedValues(['c', 'b', 'a'], [{ value: 'b', count: 10 }], ['z']).map(({ value }) => value),
    ['b', 'a', 'c', 'z'],
  );
});

test('volumes go on with a label that the selector has not fixed', (t) => {
  const labels = ['env', 'pod', 'service_name'];
  t.is(nextLabel(labels, []), 'service_name');
  t.is(nextLabel(labels, [{ name: 'service_name', values: ['a'] }]), 'env');
  t.is(nextLabel(labels, [{ name: 'service_name', values: ['a', 'b'] }]), 'service_name');
});

test('patterns stand by their lines, with their share of all', (t) => {
  const counted = countedPatterns([
    { pattern: 'a <_>', level: 'warning', samples: [[10, 1]] },
    { pattern: 'b <_>', samples: [[10, 2], [20, 1]] },
  ]); // prettier-ignore
  t.deepEqual(
    counted.map(({ pattern, level, count, share }) => [pattern, level, count, share]),
    [
      ['b <_>', undefined, 3, 0.75],
      ['a <_>', 'warn', 1, 0.25],
    ],
  );
});

test('a sparkline has a place for each bucket, at the bottom where there is no sample', (t) => {
  const range = { startMs: 0, endMs: 40_000 };
  const path = sparkPath([[10, 4], [20, 2]], range, 10, { width: 40, height: 12 }); // prettier-ignore
  t.is(path, 'M0.0 11.0L10.0 1.0L20.0 6.0L30.0 11.0L40.0 11.0');
  t.is(sparkPath([], range, 10, { width: 40, height: 12 }), '');
});

test('a level that is picked in the legend is shown alone, and all are shown when it is picked again', (t) => {
  const levels = ['error', 'info', 'debug'] as const;
  const alone = hiddenBeside(levels, new Set(), 'error');
  t.deepEqual([...alone], ['info', 'debug']);
  t.deepEqual([...hiddenBeside(levels, alone, 'error')], []);
  t.deepEqual([...hiddenBeside(levels, alone, 'info')], ['error', 'debug']);
  const histogram = histogramOf(
    [
      { metric: { level: 'info' }, values: [[60, '5']] },
      { metric: { level: 'error' }, values: [[60, '2']] },
    ],
    { startMs: 60_000, endMs: 60_000 },
    60,
  );
  const { bars, totals, highest } = onlyLevels(histogram, new Set(['info']));
  t.deepEqual(totals, [['error', 2]]);
  t.is(highest, 2);
  t.is(bars[0]?.total, 2);
});

test('a stored layout is read part by part, and what is none becomes the usual one', (t) => {
  t.deepEqual(parseLayout(null), usualLayout);
  t.deepEqual(parseLayout('[1'), usualLayout);
  t.deepEqual(parseLayout('{"tab":"labels","isOpen":false,"chart":"pie","isLog":true}'), {
    tab: 'labels',
    isOpen: false,
    chart: 'lines',
    isLog: true,
  });
});
