import test from 'ava';
import { range, instant, samplesOf, type ShortEntry } from './run-query.js';

const lines: readonly ShortEntry[] = [
  [1, 'a'],
  [10, 'bb'],
  [10.000001, 'c'],
  [19, 'dé'],
  [35, 'e'],
];

test('count_over_time counts what is in (t - range, t]', async (t) => {
  t.deepEqual(await samplesOf('count_over_time({app="a"}[10s])', lines, range(10, 40, 10)), {
    '{app="a"}': { 10: 2, 20: 2, 40: 1 },
  });
  t.deepEqual(await samplesOf('count_over_time({app="a"}[25s])', lines, range(10, 40, 10)), {
    '{app="a"}': { 10: 2, 20: 4, 30: 3, 40: 2 },
  });
  t.deepEqual(await samplesOf('count_over_time({app="a"}[4s])', lines, range(10, 40, 10)), {
    '{app="a"}': { 10: 1, 20: 1 },
  });
});

test('a range as long as the step, its multiples, and ranges longer than all steps together', async (t) => {
  const count = async (interval: string): Promise<unknown> =>
    samplesOf(`count_over_time({app="a"}[${interval}])`, lines, range(10, 40, 10));
  t.deepEqual(await count('20s'), { '{app="a"}': { 10: 2, 20: 4, 30: 2, 40: 1 } });
  t.deepEqual(await count('30s'), { '{app="a"}': { 10: 2, 20: 4, 30: 4, 40: 3 } });
  t.deepEqual(await count('40s'), { '{app="a"}': { 10: 2, 20: 4, 30: 4, 40: 5 } });
  t.deepEqual(await count('5h'), { '{app="a"}': { 10: 2, 20: 4, 30: 4, 40: 5 } });
  t.deepEqual(await count('5h3s'), { '{app="a"}': { 10: 2, 20: 4, 30: 4, 40: 5 } });
  t.deepEqual(await count('100y'), { '{app="a"}': { 10: 2, 20: 4, 30: 4, 40: 5 } });
});

test('a range of nothing holds no sample', async (t) => {
  t.deepEqual(await samplesOf('rate({app="a"}[0s])', lines, range(10, 40, 10)), {});
  t.deepEqual(await samplesOf('absent_over_time({app="a"}[0s])', lines, range(10, 20, 10)), {
    '{app="a"}': { 10: 1, 20: 1 },
  });
});

test('rate, bytes_over_time and bytes_rate divide by the seconds of the range and count UTF-8 bytes', async (t) => {
  const grid = range(20, 20, 10);
  t.deepEqual(await samplesOf('rate({app="a"}[4s])', lines, grid), { '{app="a"}': { 20: 0.25 } });
  t.deepEqual(await samplesOf('bytes_over_time({app="a"}[20s])', lines, grid), { '{app="a"}': { 20: 7 } });
  t.deepEqual(await samplesOf('bytes_rate({app="a"}[20s])', lines, grid), { '{app="a"}': { 20: 0.35 } });
  t.deepEqual(await samplesOf('rate({app="a"}[500ms])', lines, range(10, 10, 10)), {
    '{app="a"}': { 10: 2 },
  });
});

test('offset looks into the past, or ahead', async (t) => {
  const at = async (offset: string): Promise<unknown> =>
    samplesOf(`count_over_time({app="a"}[10s] offset ${offset})`, lines, range(20, 30, 10));
  t.deepEqual(await at('10s'), { '{app="a"}': { 20: 2, 30: 2 } });
  t.deepEqual(await at('-10s'), { '{app="a"}': { 30: 1 } });
  t.deepEqual(await at('1us'), { '{app="a"}': { 20: 3 } });
});

test('the grid is made of multiples of the step around start and end', async (t) => {
  const result = await samplesOf('vector(1)', [], range(14, 31, 10));
  t.deepEqual(result, { '{}': { 10: 1, 20: 1, 30: 1, 40: 1 } });
});

test('an instant query looks at its very nanosecond', async (t) => {
  t.deepEqual(await samplesOf('count_over_time({app="a"}[9s])', lines, instant(10)), {
    '{app="a"}': { 10: 1 },
  });
  const late = { kind: 'instant', timeNs: 10_000_001_000n } as const;
  t.deepEqual(await samplesOf('count_over_time({app="a"}[9s])', lines, late), { '{app="a"}': { 10: 2 } });
});

const values: readonly ShortEntry[] = [
  [2, 'v=4'],
  [4, 'v=1'],
  [6, 'v=7'],
  [12, 'v=-2'],
];

for (const [query, first, second] of [
  ['sum_over_time({app="a"} | logfmt | unwrap v [10s])', 12, -2],
  ['rate({app="a"} | logfmt | unwrap v [10s])', 1.2, -0.2],
  ['avg_over_time({app="a"} | logfmt | unwrap v [10s])', 4, -2],
  ['min_over_time({app="a"} | logfmt | unwrap v [10s])', 1, -2],
  ['max_over_time({app="a"} | logfmt | unwrap v [10s])', 7, -2],
  ['first_over_time({app="a"} | logfmt | unwrap v [10s])', 4, -2],
  ['last_over_time({app="a"} | logfmt | unwrap v [10s])', 7, -2],
  ['stdvar_over_time({app="a"} | logfmt | unwrap v [10s])', 6, 0],
  ['stddev_over_time({app="a"} | logfmt | unwrap v [10s])', Math.sqrt(6), 0],
  ['quantile_over_time(0.5, {app="a"} | logfmt | unwrap v [10s])', 4, -2],
  ['quantile_over_time(0.75, {app="a"} | logfmt | unwrap v [10s])', 5.5, -2],
  ['quantile_over_time(0, {app="a"} | logfmt | unwrap v [10s])', 1, -2],
  ['quantile_over_time(1, {app="a"} | logfmt | unwrap v [10s])', 7, -2],
  ['quantile_over_time(1.5, {app="a"} | logfmt | unwrap v [10s])', Infinity, Infinity],
] as const) {
  test(`${query} of 4, 1, 7 and of -2 alone`, async (t) => {
    t.deepEqual(await samplesOf(query, values, range(10, 20, 10)), {
      '{app="a"}': { 10: first, 20: second },
    });
    // The same values for windows that share buckets.
    const shared = await samplesOf(query, values, range(10, 11, 1));
    t.deepEqual(shared, { '{app="a"}': { 10: first, 11: first } });
  });
}

test('NaN and the infinities go their ways through each function', async (t) => {
  const entries: readonly ShortEntry[] = [
    [1, 'v=NaN', { p: 'nan' }],
    [2, 'v=3', { p: 'nan' }],
    [1, 'v=+Inf', { p: 'inf' }],
    [2, 'v=3', { p: 'inf' }],
    [1, 'v=+Inf', { p: 'both' }],
    [2, 'v=-Inf', { p: 'both' }],
    [1, 'v=NaN', { p: 'only' }],
  ];
  const at = async (f: string): Promise<unknown> => {
    const result = await samplesOf(`${f}{app="a"} | logfmt | unwrap v [10s]) by (p)`, entries, instant(10));
    return Object.fromEntries(Object.entries(result).map(([key, value]) => [key.slice(4, -2), value[10]]));
  };
  t.deepEqual(await at('max_over_time('), { nan: 3, inf: Infinity, both: Infinity, only: NaN });
  t.deepEqual(await at('min_over_time('), { nan: 3, inf: 3, both: -Infinity, only: NaN });
  t.deepEqual(await at('avg_over_time('), { nan: NaN, inf: Infinity, both: NaN, only: NaN });
  t.deepEqual(await at('stdvar_over_time('), { nan: NaN, inf: NaN, both: NaN, only: NaN });
  t.deepEqual(await at('quantile_over_time(0,'), { nan: NaN, inf: NaN, both: NaN, only: NaN });
  // Interpolation between the greatest value and itself computes Inf * 1 + Inf * 0.
  t.deepEqual(await at('quantile_over_time(1,'), { nan: 3, inf: NaN, both: NaN, only: NaN });
  t.deepEqual(await at('last_over_time('), { nan: 3, inf: 3, both: -Infinity, only: NaN });
});

test('an average stays exact where a sum would overflow', async (t) => {
  const entries: readonly ShortEntry[] = [
    [1, 'v=1.5e308'],
    [2, 'v=1.5e308'],
    [11, 'v=1.5e308'],
  ];
  const query = 'avg_over_time({app="a"} | logfmt | unwrap v [20s])';
  t.deepEqual(await samplesOf(query, entries, range(10, 20, 10)), {
    '{app="a"}': { 10: 1.5e308, 20: 1.5e308 },
  });
});

test('a variance of large values that lie close together keeps its digits over merged buckets', async (t) => {
  const entries = [1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4].map((v, index): ShortEntry => [
    index * 10 + 5,
    `v=${v}`,
  ]);
  const query = 'stdvar_over_time({app="a"} | logfmt | unwrap v [40s])';
  t.deepEqual(await samplesOf(query, entries, range(40, 40, 10)), { '{app="a"}': { 40: 1.25 } });
});

test('rate_counter stretches the growth to the range as Loki does', async (t) => {
  const entries = Array.from({ length: 15 }, (_none, index): ShortEntry => [46 + index, `v=${47 + index}`]);
  const query = 'rate_counter({app="a"} | logfmt | unwrap v [30s])';
  const growth = async (second: number): Promise<number> => {
    const result = await samplesOf(query, entries, instant(second));
    return Math.round((result['{app="a"}']?.[second] ?? NaN) * 30_000) / 1000;
  };
  t.is(await growth(60), 14.5);
  // Now the last sample is closer to the end of the range than samples are to one another, so the growth is extrapolated to the end.
  t.is(await growth(61), 15.5);
  // The counter started at zero less than half a sample distance before the first sample.
  const young: readonly ShortEntry[] = [
    [46, 'v=0.25'],
    [47, 'v=1.25'],
  ];
  t.deepEqual(await samplesOf(query, young, instant(47)), { '{app="a"}': { 47: 1.25 / 30 } });
});

test('rate_counter adds what was reached before a reset, in and between buckets', async (t) => {
  const query = 'rate_counter({app="a"} | logfmt | unwrap v [100s])';
  const growth = async (numbers: readonly number[], step: number): Promise<number> => {
    const entries = numbers.map((v, index): ShortEntry => [index * 10 + 5, `v=${v}`]);
    const result = await samplesOf(query, entries, range(100, 100, step));
    return Math.round((result['{app="a"}']?.[100] ?? NaN) * 100_000) / 1000;
  };
  // 10 to 30, reset, 5 to 25: 30 - 10 + 25 in 40 s, extended by 5 s at either end.
  for (const step of [100, 50, 20, 10]) {
    t.is(await growth([10, 20, 30, 5, 25], step), (45 * 50) / 40);
  }
  t.is(await growth([10], 10), 0);
  t.is(await growth([3, 2, 1], 10), ((3 + 2 + 1 - 3) * 30) / 20);
});

test('absent_over_time tells the labels that are certain, at times without samples', async (t) => {
  const grid = range(10, 30, 10);
  t.deepEqual(await samplesOf('absent_over_time({app="a"}[5s])', lines, grid), { '{app="a"}': { 30: 1 } });
  t.deepEqual(await samplesOf('absent_over_time({app="a"} |= "e" [20s])', lines, range(10, 50, 20)), {
    '{app="a"}': { 0: 1, 20: 1, 60: 1 },
  });
  const none = 'absent_over_time({app="b", env=~"x|y", zone!="z", app!="c", pod="", team="t", team="t"}[5s])';
  t.deepEqual(await samplesOf(none, lines, instant(10)), { '{}': { 10: 1 } });
});

test('series are told apart by all labels, without the one that is unwrapped, or by the grouping', async (t) => {
  const entries: readonly ShortEntry[] = [
    [1, 'v=1 w=x', { pod: 'p' }],
    [2, 'v=2 w=y', { pod: 'p' }],
    [3, 'v=5 w=x', { pod: 'q' }],
  ];
  const by = async (query: string): Promise<unknown> => samplesOf(query, entries, instant(10));
  t.deepEqual(await by('max_over_time({app="a"} | logfmt | unwrap v [10s])'), {
    '{app="a", pod="p", w="x"}': { 10: 1 },
    '{app="a", pod="p", w="y"}': { 10: 2 },
    '{app="a", pod="q", w="x"}': { 10: 5 },
  });
  t.deepEqual(await by('max_over_time({app="a"} | logfmt | unwrap v [10s]) by (pod)'), {
    '{pod="p"}': { 10: 2 },
    '{pod="q"}': { 10: 5 },
  });
  t.deepEqual(await by('max_over_time({app="a"} | logfmt | unwrap v [10s]) without (w, app)'), {
    '{pod="p"}': { 10: 2 },
    '{pod="q"}': { 10: 5 },
  });
  t.deepEqual(await by('max_over_time({app="a"} | logfmt | unwrap v [10s]) by ()'), { '{}': { 10: 5 } });
  t.deepEqual(await by('count_over_time({app="a"} | logfmt | drop v [10s])'), {
    '{app="a", pod="p", w="x"}': { 10: 1 },
    '{app="a", pod="p", w="y"}': { 10: 1 },
    '{app="a", pod="q", w="x"}': { 10: 1 },
  });
});
