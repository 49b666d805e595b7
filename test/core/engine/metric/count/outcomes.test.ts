import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../../setup/runs.js';
import type { StoredEntry } from '../metric-store.js';
import { base, second } from './json-lines.js';
import { LineStore } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(74_000);
});
test.after.always(() => store.close());

/** Values that most lines have, by unit, near the limits of the comparisons; the backend can tell nearly all of their outcomes. */
const digits = fc.oneof(
  fc.nat(1_300).map(String),
  fc.nat(13_000).map((hundredths) => (hundredths / 100).toFixed(2)),
  fc.constantFrom('499', '500', '500.0', '501', '1', '2', '0.49', '0.5', '0.51', '1500', '1023', '1025'),
);
const units = ['', '', 'ms', 's', 'B', 'KiB'];
/** Values that few lines have: those that cannot be compared, and those that the backend reads otherwise, or that may be rounded. */
const odd = [
  ...['0500', '-1', '+600', '1e3', 'NaN', 'Inf', '0.50000000000000001', '500.0000001', '999999999999999'],
  ...[
    '1m30s',
    '1h0m0.5s',
    '1m500ms',
    '600µs',
    '500.0000001ms',
    '1ns',
    '5d',
    '600kB',
    '600kb',
    '2 KB',
    '3GiB',
  ],
  ...['', 'x', 'GET /x', 'a"b', '\ufffd', 'тест', '[5]'],
];
const rowValues = fc
  .constantFrom(...units)
  .chain((unit) =>
    fc.array(
      fc.oneof(
        { weight: 30, arbitrary: digits.map((text) => text + unit) },
        { weight: 1, arbitrary: fc.constantFrom(...odd) },
      ),
      { minLength: 150, maxLength: 200 },
    ),
  );

const comparisons = [
  'value > 500',
  'value <= 500 | value > 0.5',
  'value != 500',
  'value == 500',
  'value < 500ms',
  'value >= 1.5s or code > 1',
  'value > 500B',
  'value < 1KiB and value > 1B',
  'value != ""',
  'value =~ ".*5.*"',
  'value !~ "[0-9]+(ms|s)"',
  'value =~ "(?i)get.*|x"',
  'value != "500" | value > 100',
  'value = "500" or value = "x"',
];
const endings = ['', ' | __error__=""'];
const parsers = {
  json: (value: string, other: number) => JSON.stringify({ value, other, code: other % 3 }),
  logfmt: (value: string, other: number) => `value=${JSON.stringify(value)} other=${other} code=${other % 3}`,
  'pattern "<value>;<other>;<code>;"': (value: string, other: number) => `${value};${other};${other % 3};`,
  'regexp "^(?P<value>.*);(?P<other>\\\\d+);(?P<code>\\\\d)"': (value: string, other: number) =>
    `${value};${other};${other % 3};`,
} as const;

function entriesOf(values: readonly string[], line: (value: string, other: number) => string): StoredEntry[] {
  return values.map((value, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a', pod: `pod-${n % 2}` },
    line: line(value, n),
  }));
}

test.serial('rows count by the outcome of comparisons as they would one by one', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(
      rowValues,
      fc.constantFrom(...Object.entries(parsers)),
      fc.constantFrom(...endings),
      async (values, [parser, line], ending) => {
        await store.push(entriesOf(values, line));
        const queries = comparisons.flatMap((comparison) => [
          `sum by (code) (count_over_time({app="a"} | ${parser} | ${comparison}${ending} [60s]))`,
          `sum(count_over_time({app="a"} | ${parser} | ${comparison} | drop __error__, __error_details__ [60s]))`,
          `sum by (code) (sum_over_time({app="a"} | ${parser} | ${comparison} | unwrap other${ending} [60s]))`,
        ]);
        await store.compare(t, queries);
      },
    ),
    { numRuns: deepRuns(3, 12) },
  );
});

test.serial(
  'the backend sends a group for each outcome of a comparison instead of one for each value',
  async (t) => {
    const values = Array.from({ length: 290 }, (_none, n) => `${n}.5ms`);
    for (const [parser, line] of Object.entries(parsers)) {
      await store.push(entriesOf(values, line));
      for (const [comparison, groups] of [
        ['value > 100ms', 2],
        ['value > 100ms | value < 200ms', 3],
        ['value != ""', 1],
        ['value =~ ".*5ms"', 1],
      ] as const) {
        const text = `sum(count_over_time({app="a"} | ${parser} | ${comparison} | drop __error__ [300s]))`;
        await store.compareReading(t, [[text, 'statistics:ran', 6 * groups + 8]], 10_000);
      }
    }
  },
);

test.serial('values that matter to more than comparisons are told apart', async (t) => {
  const values = Array.from({ length: 190 }, (_none, n) => String(400 + n));
  for (const [parser, line] of Object.entries(parsers)) {
    await store.push(entriesOf(values, line));
    await store.compare(t, [
      `sum by (value) (count_over_time({app="a"} | ${parser} | value > 500 [60s]))`,
      `sum by (size) (count_over_time({app="a"} | ${parser} | value > 500 | label_format size="{{.value}}" [60s]))`,
      `sum by (code) (count_over_time({app="a"} | ${parser} | label_format value="{{.other}}" | value > 100 [60s]))`,
      `sum by (code) (sum_over_time({app="a"} | ${parser} | unwrap value | value > 500 [60s]))`,
    ]);
  }
});
