import test from 'ava';
import { histogramOf } from '../../../../plugins/ui/browser/model/histogram.js';
import { levelOf } from '../../../../plugins/ui/browser/model/levels.js';
import { groupsOf, logRows } from '../../../../plugins/ui/browser/model/log-rows.js';
import { seriesOf } from '../../../../plugins/ui/browser/model/series.js';

test('levels are known by all their spellings', (t) => {
  t.is(levelOf('WARNING'), 'warn');
  t.is(levelOf('fatal'), 'critical');
  t.is(levelOf('err'), 'error');
  t.is(levelOf('constructor'), 'unknown');
  t.is(levelOf(undefined), 'unknown');
});

const streams = [
  {
    stream: { app: 'b', level: 'error' },
    values: [
      ['1793491200000000003', 'third'],
      ['1793491200000000001', 'first'],
    ] as const,
  },
  {
    stream: { app: 'a' },
    values: [
      [
        '1793491200000000002',
        'second',
        { structuredMetadata: { detected_level: 'info', trace: '1' }, parsed: { x: 'y' } },
      ],
    ] as const,
  },
];

test('lines of all streams stand in one order, to the nanosecond', (t) => {
  t.deepEqual(
    logRows(streams, 'backward').map(({ line }) => line),
    ['third', 'second', 'first'],
  );
  t.deepEqual(
    logRows(streams, 'forward').map(({ line }) => line),
    ['first', 'second', 'third'],
  );
  const [early] = logRows(
    [
      {
        stream: {},
        values: [
          ['1000', 'new'],
          ['999', 'old'],
        ],
      },
    ],
    'forward',
  );
  t.is(early?.line, 'old');
});

test('a line has its level and its labels by kind', (t) => {
  const [first, second] = logRows(streams, 'forward');
  if (first === undefined || second === undefined) return t.fail();
  t.is(first.level, 'error');
  t.is(second.level, 'info');
  t.deepEqual(
    groupsOf(first).map(({ title }) => title),
    ['Stream labels'],
  );
  t.deepEqual(
    groupsOf(second).map(({ labels }) => labels),
    [
      [['app', 'a']],
      [
        ['detected_level', 'info'],
        ['trace', '1'],
      ],
      [['x', 'y']],
    ],
  );
});

test('bars stand for every step, the empty ones too', (t) => {
  const { bars, totals, highest } = histogramOf(
    [
      {
        metric: { detected_level: 'info' },
        values: [
          [60, '3'],
          [180, '1'],
        ],
      },
      { metric: { level: 'information' }, values: [[60, '2']] },
      { metric: { detected_level: 'error' }, values: [[60, '4']] },
      { metric: {}, values: [[180, '7']] },
    ],
    { startMs: 60_000, endMs: 240_000 },
    60,
  );
  t.deepEqual(
    bars.map(({ startMs, endMs, total }) => [startMs, endMs, total]),
    [
      [0, 60_000, 9],
      [60_000, 120_000, 0],
      [120_000, 180_000, 8],
      [180_000, 240_000, 0],
    ],
  );
  t.is(bars[0]?.counts.get('info'), 5);
  t.deepEqual(totals, [
    ['error', 4],
    ['info', 6],
    ['unknown', 7],
  ]);
  t.is(highest, 9);
});

test('series stand by their mean and know their figures', (t) => {
  const [first, second, third] = seriesOf([
    {
      metric: { a: 'x"y' },
      values: [
        [1, '1'],
        [2, '3'],
      ],
    },
    {
      metric: { b: 'big', a: '1' },
      values: [
        [1, '10'],
        [2, '+Inf'],
        [3, '20'],
      ],
    },
    { metric: {}, values: [[1, 'NaN']] },
  ]);
  t.is(first?.name, '{a="1", b="big"}');
  t.deepEqual(first?.figures, { last: 20, min: 10, max: 20, mean: 15 });
  t.is(first?.points[1]?.value, Infinity);
  t.is(second?.name, '{a="x\\"y"}');
  t.is(third?.figures, undefined);
});
