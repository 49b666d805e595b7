import { LabelSet } from '../../core/base/label-set.js';
import { parseQuery, type RangeAggregation } from '../../core/logql/index.js';
import { gridColumns, defaultMetricLimits, RangeEngine } from '../../core/logql/metric/index.js';

const samples = 2_000_000;
const rounds = 3;
const startMs = 1_793_491_200_000;
const hours = 6;
const columns = gridColumns({ kind: 'range', startMs, endMs: startMs + hours * 3_600_000, stepMs: 60_000 });

interface Shape {
  readonly name: string;
  readonly query: string;
  /** Number of series; their samples alternate, in time order unless `isShuffled`. */
  readonly series: number;
  readonly isShuffled: boolean;
}

const shapes: readonly Shape[] = [
  { name: 'count by 3 labels, 100 series', query: 'count_over_time', series: 100, isShuffled: false },
  { name: 'the same, out of order', query: 'count_over_time', series: 100, isShuffled: true },
  { name: 'count, 20,000 series', query: 'count_over_time', series: 20_000, isShuffled: false },
  { name: 'sum of 3 labels, 100 series', query: 'sum_over_time', series: 100, isShuffled: false },
  { name: 'stddev, 100 series', query: 'stddev_over_time', series: 100, isShuffled: false },
  { name: 'quantile, 100 series', query: 'quantile_over_time', series: 100, isShuffled: false },
  { name: 'rate_counter, 100 series', query: 'rate_counter', series: 100, isShuffled: false },
];

/** Prints how many samples per second the range engine accepts and evaluates for a range of 6 h at 60 s with windows of 5 m. */
export function run(): Promise<void> {
  for (const shape of shapes) {
    const inputs = inputsOf(shape);
    let best = Infinity;
    for (let round = 0; round < rounds; round += 1) best = Math.min(best, measure(shape, inputs));
    const perSecond = Math.round(samples / best).toLocaleString('en');
    process.stdout.write(`${shape.name.padEnd(32)} ${Math.round(best * 1000)} ms, ${perSecond} samples/s\n`);
  }
  return Promise.resolve();
}

interface Inputs {
  readonly labels: readonly LabelSet[];
  readonly times: readonly bigint[];
  readonly values: Float64Array;
}

function inputsOf({ series, isShuffled }: Shape): Inputs {
  const sets = Array.from({ length: series }, (_none, index) =>
    LabelSet.from([
      ['namespace', `ns-${index % 5}`],
      ['pod', `pod-${index}`],
      ['level', index % 3 === 0 ? 'error' : 'info'],
    ]),
  );
  const stepNs = (BigInt(hours) * 3_600_000_000_000n) / BigInt(samples);
  const order = (index: number): number => (isShuffled ? (index * 1_000_003) % samples : index);
  const numbers = Array.from({ length: samples }, (_none, index) => order(index));
  return {
    labels: numbers.map((number) => sets[(number * 7) % series] ?? LabelSet.empty),
    times: numbers.map((number) => BigInt(startMs) * 1_000_000n + BigInt(number) * stepNs),
    values: Float64Array.from(numbers, (number) => (number * 7919) % 1000),
  };
}

function measure({ query }: Shape, { labels, times, values }: Inputs): number {
  const engine = new RangeEngine(aggregationOf(query), columns, defaultMetricLimits);
  const from = performance.now();
  for (let index = 0; index < samples; index += 1) {
    engine.add(labels[index] ?? LabelSet.empty, times[index] ?? 0n, values[index] ?? 0);
  }
  let points = 0;
  for (const { present } of engine.rows()) points += present[0] ?? 0;
  if (points < 0) throw new Error('a negative number of points');
  return (performance.now() - from) / 1000;
}

function aggregationOf(op: string): RangeAggregation {
  const unwrap = op === 'count_over_time' ? '' : '| unwrap value';
  const parameter = op === 'quantile_over_time' ? '0.99, ' : '';
  const expr = parseQuery(`${op}(${parameter}{app="a"} ${unwrap} [5m])`);
  if (expr.kind !== 'range-aggregation') throw new Error('not a range aggregation');
  return expr;
}
