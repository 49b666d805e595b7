import test from 'ava';
import fc from 'fast-check';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { Pacer } from '../../../../core/base/pace/steps.js';
import { LabelSet } from '../../../../core/base/label-set.js';
import type { RangeAggregation, RangeOp } from '../../../../core/logql/index.js';
import {
  gridColumns,
  defaultMetricLimits,
  RangeEngine,
  transfersOf,
  type Grid,
} from '../../../../core/logql/metric/index.js';
import { deepRuns } from '../../../setup/runs.js';
import { metricExpr } from './run-query.js';

interface Sample {
  readonly series: number;
  readonly ms: number;
  readonly ns: number;
  readonly value: number;
}

const sets = ['a', 'b', 'c'].map((name) => LabelSet.from([['name', name]]));
const baseMs = 1_793_491_200_000;

const anySample: fc.Arbitrary<Sample> = fc.record({
  series: fc.nat(2),
  ms: fc.integer({ min: -500, max: 1500 }),
  ns: fc.constantFrom(0, 0, 1, 999_999),
  value: fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(NaN, Infinity, 1e9 + 1, 0.1)),
});
const samples = fc.array(anySample, { maxLength: 60 });
const shape = fc.record({
  startMs: fc.integer({ min: 0, max: 300 }).map((ms) => baseMs + ms),
  spanMs: fc.integer({ min: 0, max: 800 }),
  stepMs: fc.integer({ min: 7, max: 300 }),
  rangeMs: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1000, max: 3000 })),
  offsetMs: fc.constantFrom(0, 0, 50, -130),
});
type Shape = typeof shape extends fc.Arbitrary<infer S> ? S : never;

const ops: readonly RangeOp[] = [
  'count_over_time',
  'rate',
  'sum_over_time',
  'avg_over_time',
  'min_over_time',
  'max_over_time',
  'stdvar_over_time',
  'stddev_over_time',
  'first_over_time',
  'last_over_time',
  'quantile_over_time',
  'rate_counter',
];

function aggregation(op: RangeOp, { rangeMs, offsetMs }: Shape): RangeAggregation {
  const expr = metricExpr(
    op === 'count_over_time'
      ? 'count_over_time({a="b"}[1m])'
      : `${op}(${op === 'quantile_over_time' ? '0.7,' : ''}{a="b"} | unwrap v [1m])`,
  );
  if (expr.kind !== 'range-aggregation') throw new Error('not a range aggregation');
  const range = {
    ...expr.range,
    intervalNanoseconds: BigInt(rangeMs) * 1_000_000n,
    offsetNanoseconds: BigInt(offsetMs) * 1_000_000n,
  };
  return { ...expr, range };
}

function gridOfShape({ startMs, spanMs, stepMs }: Shape): Grid {
  return { kind: 'range', startMs, endMs: startMs + spanMs, stepMs };
}

const timeOf = ({ ms, ns }: Sample): bigint => BigInt(baseMs + ms) * 1_000_000n + BigInt(ns);

/** The results of the engine, by series and time in milliseconds. */
function computed(op: RangeOp, given: Shape, all: readonly Sample[]): ReadonlyMap<string, number> {
  const columns = gridColumns(gridOfShape(given));
  const engine = new RangeEngine(aggregation(op, given), columns, defaultMetricLimits);
  for (const sample of all) engine.add(sets[sample.series] ?? LabelSet.empty, timeOf(sample), sample.value);
  const out = new Map<string, number>();
  for (const { labels, values, present } of engine.rows()) {
    for (let column = 0; column < columns.count; column += 1) {
      const ms = Number(columns.firstNs / 1_000_000n) + column * columns.stepMs;
      if (present[column] === 1) out.set(`${labels.get('name')}@${ms}`, values[column] ?? 0);
    }
  }
  return out;
}

/** The expected results, computed from all samples for every window. */
function naive(op: RangeOp, given: Shape, all: readonly Sample[]): ReadonlyMap<string, number> {
  const { startMs, spanMs, stepMs, rangeMs, offsetMs } = given;
  const out = new Map<string, number>();
  const last = Math.ceil((startMs + spanMs) / stepMs) * stepMs;
  for (const [series, labels] of sets.entries()) {
    for (let ms = Math.floor(startMs / stepMs) * stepMs; ms <= last; ms += stepMs) {
      const to = BigInt(ms - offsetMs) * 1_000_000n;
      const from = to - BigInt(rangeMs) * 1_000_000n;
      const inside = all
        .filter((sample) => sample.series === series && timeOf(sample) > from && timeOf(sample) <= to)
        .sort((a, b) => Number(timeOf(a) - timeOf(b)) || order(a.value, b.value));
      if (inside.length > 0) out.set(`${labels.get('name')}@${ms}`, naiveValue(op, inside, rangeMs / 1000));
    }
  }
  return out;
}

function order(a: number, b: number): number {
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b)) || a - b;
}

function naiveValue(op: RangeOp, inside: readonly Sample[], seconds: number): number {
  const values = inside.map(({ value }) => value);
  const numbers = values.filter((value) => !Number.isNaN(value));
  const sum = values.reduce((a, b) => a + b, 0);
  const mean = sum / values.length;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
  switch (op) {
    case 'count_over_time':
      return values.length;
    case 'rate':
      return sum / seconds;
    case 'sum_over_time':
      return sum;
    case 'avg_over_time':
      return mean;
    case 'min_over_time':
      return numbers.length === 0 ? NaN : Math.min(...numbers);
    case 'max_over_time':
      return numbers.length === 0 ? NaN : Math.max(...numbers);
    case 'stdvar_over_time':
      return variance;
    case 'stddev_over_time':
      return Math.sqrt(variance);
    case 'first_over_time':
      return values[0] ?? 0;
    case 'last_over_time':
      return values.at(-1) ?? 0;
    case 'quantile_over_time': {
      const sorted = [...values.filter(Number.isNaN), ...numbers.sort((a, b) => a - b)];
      const rank = 0.7 * (sorted.length - 1);
      const [low, high] = [sorted[Math.floor(rank)] ?? 0, sorted[Math.floor(rank) + 1] ?? sorted.at(-1) ?? 0];
      return low * (1 - (rank % 1)) + high * (rank % 1);
    }
    default:
      throw new Error(`no naive ${op}`);
  }
}

function areClose(a: number | undefined, b: number | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Object.is(a, b) || a === b || Math.abs(a - b) <= 1e-7 * Math.max(1, Math.abs(a), Math.abs(b));
}

function sameMaps(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => areClose(value, b.get(key)));
}

for (const op of ops.filter((one) => one !== 'rate_counter')) {
  test(`${op} over buckets equals going through every window`, (t) => {
    // Squares of numbers of very different magnitude lose all digits depending on the order of addition.
    const isSquare = op === 'stdvar_over_time' || op === 'stddev_over_time';
    const inputs = isSquare
      ? fc.array(
          anySample.map((sample) => (sample.value > 1e6 ? { ...sample, value: 7 } : sample)),
          { maxLength: 60 },
        )
      : samples;
    fc.assert(
      fc.property(shape, inputs, (given, all) => sameMaps(computed(op, given, all), naive(op, given, all))),
      { numRuns: deepRuns(60, 200) },
    );
    t.pass();
  });
}

for (const op of ops) {
  test(`${op} does not depend on the order of samples`, (t) => {
    fc.assert(
      fc.property(shape, samples, fc.array(fc.nat(), { minLength: 60 }), (given, all, numbers) => {
        const shuffled = all
          .map((sample, index) => ({ sample, at: numbers[index] ?? 0 }))
          .sort((a, b) => a.at - b.at)
          .map(({ sample }) => sample);
        return sameMaps(computed(op, given, all), computed(op, given, shuffled));
      }),
      { numRuns: deepRuns(30, 100) },
    );
    t.pass();
  });
}

test('rate_counter over buckets equals that over one bucket', (t) => {
  fc.assert(
    fc.property(shape, samples, (given, all) => {
      const { startMs, spanMs, stepMs } = given;
      const whole = computed('rate_counter', given, all);
      const last = Math.ceil((startMs + spanMs) / stepMs) * stepMs;
      for (let ms = Math.floor(startMs / stepMs) * stepMs; ms <= last; ms += stepMs) {
        const alone = computed('rate_counter', { ...given, startMs: ms, spanMs: 0, stepMs: 1 }, all);
        for (const name of ['a', 'b', 'c']) {
          if (!areClose(whole.get(`${name}@${ms}`), alone.get(`${name}@${ms}`))) return false;
        }
      }
      return true;
    }),
    { numRuns: deepRuns(30, 100) },
  );
  t.pass();
});

test('sums by series add up to the sum of all', (t) => {
  fc.assert(
    fc.property(shape, samples, (given, all) => {
      const finite = all.filter(({ value }) => Number.isFinite(value));
      const parts = new Map<string, number>();
      for (const [key, value] of computed('sum_over_time', given, finite)) {
        const ms = key.slice(key.indexOf('@'));
        parts.set(`a${ms}`, (parts.get(`a${ms}`) ?? 0) + value);
      }
      const whole = computed(
        'sum_over_time',
        given,
        finite.map((sample) => ({ ...sample, series: 0 })),
      );
      return sameMaps(parts, whole);
    }),
  );
  t.pass();
});

const longGrid: Shape = { startMs: baseMs, spanMs: 1000, stepMs: 100, rangeMs: 200, offsetMs: 0 };

test('samples of equal labels are of one series, whatever object holds them', (t) => {
  const engine = new RangeEngine(
    aggregation('rate', longGrid),
    gridColumns(gridOfShape(longGrid)),
    defaultMetricLimits,
  );
  for (let index = 0; index < 10; index += 1) {
    engine.add(LabelSet.from([['x', '1']]), BigInt(baseMs) * 1_000_000n, 1);
  }
  t.is(engine.seriesCount, 1);
  t.is([...engine.rows()].length, 1);
});

test('more cells or values than allowed are refused', (t) => {
  const columns = gridColumns(gridOfShape(longGrid));
  const fill = (op: RangeOp, limits: { readonly maxCells: number; readonly maxValues: number }): void => {
    const engine = new RangeEngine(aggregation(op, longGrid), columns, { ...defaultMetricLimits, ...limits });
    for (let index = 0; index < 11; index += 1) {
      engine.add(LabelSet.from([['x', String(index)]]), BigInt(baseMs) * 1_000_000n, 1);
    }
  };
  const cells = t.throws(() => fill('rate', { maxCells: 10, maxValues: 0 }), { instanceOf: ApiError });
  t.is(cells.message, 'manual metric series limit exceeded');
  t.is(cells.status, 503);
  const values = t.throws(() => fill('quantile_over_time', { maxCells: 0, maxValues: 10 }), {
    instanceOf: ApiError,
  });
  t.true(values.message.includes('more than 10 values in memory'));
  t.notThrows(() => fill('rate', { maxCells: 11, maxValues: 0 }));
  t.notThrows(() => fill('rate_counter', { maxCells: 0, maxValues: 11 }));
});

test('many series in many buckets find their cells again', (t) => {
  const given = { ...longGrid, spanMs: 50_000, rangeMs: 100 };
  const columns = gridColumns(gridOfShape(given));
  const engine = new RangeEngine(aggregation('count_over_time', given), columns, defaultMetricLimits);
  const many = Array.from({ length: 300 }, (_none, index) => LabelSet.from([['x', String(index)]]));
  for (let round = 0; round < 2; round += 1) {
    for (let column = 0; column < columns.count; column += 1) {
      for (const labels of many) engine.add(labels, columns.firstNs + BigInt(column) * 100_000_000n, 1);
    }
  }
  const rows = [...engine.rows()];
  t.is(rows.length, 300);
  t.true(rows.every(({ values }) => values.every((value) => value === 2)));
});

test('windows of years are cut where they should be, to the nanosecond', (t) => {
  const yearMs = 365 * 24 * 3_600_000;
  for (const years of [1, 50, 290]) {
    const given = { ...longGrid, rangeMs: years * yearMs };
    const engine = new RangeEngine(
      aggregation('count_over_time', given),
      gridColumns(gridOfShape(given)),
      defaultMetricLimits,
    );
    const begin = BigInt(baseMs - years * yearMs) * 1_000_000n;
    for (const time of [begin, begin + 1n, begin + 100_000_000n, begin + 100_000_001n]) {
      engine.add(sets[0] ?? LabelSet.empty, time, 1);
    }
    const [row] = [...engine.rows()];
    t.deepEqual([...(row?.values ?? [])].slice(0, 3), [3, 1, 0]);
    t.is(engine.windows.range.startNs, begin + 1n);
    t.true(engine.windows.buckets < 50);
  }
});

/**
 * An engine with one series so long that its row is computed in advance, and short ones: two with the same shown labels, one with odd
 * texts, one without labels.
 */
async function filled(op: RangeOp): Promise<RangeEngine> {
  const engine = emptyEngine(op);
  for (let index = 0; index < 20_000; index += 1)
    engine.add(sets[0] ?? LabelSet.empty, BigInt(baseMs + (index % 1000)) * 1_000_000n, index % 97);
  for (const [index, labels] of [{ gone: '1' }, { gone: '2' }, { 'ö:1': '3:x', empty: '' }, {}].entries())
    for (let at = 0; at < 5; at += 1)
      engine.add(
        LabelSet.from(Object.entries(labels)),
        BigInt(baseMs + at * 100) * 1_000_000n,
        at + index / 2,
      );
  await engine.prepare(new Pacer());
  return engine;
}

function emptyEngine(op: RangeOp): RangeEngine {
  const columns = gridColumns(gridOfShape(longGrid));
  const folded = { without: true, labels: ['gone'], span: { start: 0, end: 0 } };
  return new RangeEngine(aggregation(op, longGrid), columns, defaultMetricLimits, { folded });
}

for (const op of ops)
  test(`${op}: what an engine has counted is the same in another thread`, async (t) => {
    const packed = (await filled(op)).pack();
    const moved = emptyEngine(op);
    await moved.load(structuredClone(packed, { transfer: [...transfersOf(packed)] }), new Pacer());
    const stayed = await filled(op);
    t.is(stayed.seriesCount, 3);
    t.deepEqual(
      [moved.seriesCount, moved.isDistinct, moved.isCut],
      [stayed.seriesCount, stayed.isDistinct, stayed.isCut],
    );
    const shown = (engine: RangeEngine): readonly unknown[] =>
      [...engine.rows()].map(({ labels, values, present }) => [labels.labels, [...values], [...present]]);
    t.deepEqual(shown(moved), shown(stayed));
  });
