import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { formatValue } from '../../../../plugins/ui/browser/model/format.js';
import {
  aboveZero,
  colours,
  columnsOf,
  lonePoints,
  seriesOf,
  stacked,
  withOwnColours,
} from '../../../../plugins/ui/browser/model/series.js';

const answer = [
  { metric: { a: 'x' }, values: [[10, '4'], [20, '6'], [50, '8']] },
  { metric: { a: 'y' }, values: [[10, '1'], [20, 'NaN'], [60, '-1']] },
] as const; // prettier-ignore

test('columns have a time without values where points are missing', (t) => {
  t.deepEqual(columnsOf(seriesOf(answer), 10_000), {
    seconds: [10, 20, 30, 50, 60],
    values: [
      [4, 6, null, 8, null],
      [1, null, null, null, -1],
    ],
  });
});

test('stacked columns add up, and a time without values stays empty', (t) => {
  t.deepEqual(stacked(columnsOf(seriesOf(answer), 10_000)).values, [
    [4, 6, null, 8, 0],
    [5, 6, null, 8, -1],
  ]);
});

test('a logarithmic scale leaves out what it cannot show, and a lone point is known', (t) => {
  const { values } = aboveZero(columnsOf(seriesOf(answer), 10_000));
  t.deepEqual(values[1], [1, null, null, null, null]);
  t.deepEqual(lonePoints(values[0] ?? []), [3]);
});

test('as many series as there are colours have colours of their own', (t) => {
  const many = seriesOf(
    Array.from({ length: 3 * colours }, (_, index) => ({
      metric: { index: String(index) },
      values: [[1, String(index)]] as const,
    })),
  );
  const picked = withOwnColours(many.filter((_, index) => index % 3 === 0));
  t.is(picked.length, colours);
  t.is(new Set(picked.map(({ colour }) => colour)).size, colours);
});

test('values have the unit of their query', (t) => {
  t.deepEqual(
    [
      formatValue(12.5, 'per-second'),
      formatValue(1_234_567, 'bytes'),
      formatValue(2_000, 'bytes-per-second'),
      formatValue(0.034, 'seconds'),
      formatValue(90, 'seconds'),
      formatValue(0, 'seconds'),
      formatValue(1_500, 'none'),
      formatValue(Infinity, 'bytes'),
    ],
    ['12.5/s', '1.23 MB', '2 kB/s', '34 ms', '1.5 min', '0 s', '1.5k', '+Inf'],
  );
});

/** The OKLab coordinates of a colour; equal distances in them look about equal. */
function placeOf(hex: string): readonly number[] {
  const [r = 0, g = 0, b = 0] = linearOf(hex);
  const l = Math.cbrt(0.4122 * r + 0.5363 * g + 0.0514 * b);
  const m = Math.cbrt(0.2119 * r + 0.6807 * g + 0.1074 * b);
  const s = Math.cbrt(0.0883 * r + 0.2817 * g + 0.63 * b);
  return [
    0.2105 * l + 0.7936 * m - 0.0041 * s,
    1.978 * l - 2.4286 * m + 0.4506 * s,
    0.0259 * l + 0.7828 * m - 0.8087 * s,
  ];
}

function linearOf(hex: string): readonly number[] {
  return [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
}

function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other]
    .map((hex) => {
      const [r = 0, g = 0, b = 0] = linearOf(hex);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    })
    .sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test('all colours of series are told apart and seen, in the light and in the dark', async (t) => {
  const tokens = await readFile(join(packageRoot(), 'plugins/ui/browser/styles/tokens.css'), 'utf8');
  const pairs = [...tokens.matchAll(/--series-\d+: light-dark\((#\w{6}), (#\w{6})\)/g)];
  t.is(pairs.length, colours);
  const [, white = '', black = ''] = /--surface: light-dark\((#\w{6}), (#\w{6})\)/.exec(tokens) ?? [];
  for (const [side, surface] of [white, black].entries()) {
    const hexes = pairs.map((pair) => pair[side + 1] ?? '');
    for (const [index, hex] of hexes.entries()) {
      t.true(contrastOf(hex, surface) >= 3, `${hex} on ${surface}`);
      for (const other of hexes.slice(0, index)) {
        const [a, b] = [placeOf(hex), placeOf(other)];
        const apart = Math.hypot(...a.map((part, at) => part - (b[at] ?? 0)));
        t.true(apart > 0.06, `${hex} and ${other} are ${apart} apart`);
      }
    }
  }
});
