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

/** Common values, by unit, near the limits of the comparisons; the backend can tell nearly all of their outcomes. */
const digits = fc.oneof(
  fc.nat(1_300).map(String),
  fc.nat(13_000).map((hundredths) => (hundredths / 100).toFixed(2)),
  fc.constantFrom('499', '500', '500.0', '501', '1', '2', '0.49', '0.5', '0.51', '1500', '1023', '1025'),
);
const units = ['', '', 'ms', 'µs', 's', 'B', 'KiB'];
/** Rare values: not comparable, read differently by the backend, or possibly rounded. */
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
  ...['10.0.0.01', '10.0.0.2:80', '10.0.0.2, 10.0.0.9', '::1', '10.0.0.256'],
  ...['', 'x', 'GET /x', 'a"b', '\ufffd', 'тест', '[5]'],
];
const addresses = fc.nat(12).map((last) => `10.0.0.${last}`);
const comparisons = [
  'value > 500',
  'value <= 500 | value > 0.5',
  'value != 500',
  'value == 500',
  'value < 500ms',
  'value >= 1.5s or code > 1',
  'value > 500B',
  'value >= 500 | value <= 1500',
  'value < 1KiB and value > 1B',
  'value != ""',
  'value =~ ".*5.*"',
  'value !~ "[0-9]+(ms|s)"',
  'value =~ "(?i)get.*|x"',
  'value != "500" | value > 100',
  'value = "500" or value = "x"',
];
const ofAddresses = ['value = ip("10.0.0.0/30")', 'value != ip("10.0.0.2-10.0.0.7") and code > 0'];
const usualValues = [
  ...units.map((unit) => ({ usual: digits.map((text) => text + unit), own: [] })),
  ...[1, 2, 3].map(() => ({ usual: addresses, own: ofAddresses })),
];
/** Values of rows, and comparisons of them. */
const compared = fc.constantFrom(...usualValues).chain(({ usual, own }) =>
  fc.record({
    values: fc.array(
      fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom(...odd) }),
      { minLength: 150, maxLength: 200 },
    ),
    some: fc
      .shuffledSubarray(comparisons, { minLength: 4, maxLength: 4 })
      .map((others) => [...own, ...others]),
  }),
);

const endings = ['', ' | __error__=""'];
/** A form of rows: the stages that produce their labels, and a function that makes a row with these values. */
interface Form {
  readonly name: string;
  readonly parser: string;
  /** The outcome of the strategy that counts them; `statistics:ran` by default. */
  readonly counted?: string;
  readonly row: (value: string, other: number) => Pick<StoredEntry, 'line' | 'metadata'>;
}

function fieldsOf(value: string, other: number): Readonly<Record<string, string>> {
  return { value, other: String(other), code: String(other % 3) };
}

function separated(value: string, other: number): string {
  return `${value};${other};${other % 3};`;
}

const forms: readonly Form[] = [
  {
    name: 'JSON',
    parser: '| json',
    row: (value, other) => ({ line: JSON.stringify(fieldsOf(value, other)) }),
  },
  {
    name: 'pairs',
    parser: '| logfmt',
    row: (value, other) => ({ line: `value=${JSON.stringify(value)} other=${other} code=${other % 3}` }),
  },
  {
    name: 'a pattern',
    parser: '| pattern "<value>;<other>;<code>;"',
    row: (value, other) => ({ line: separated(value, other) }),
  },
  {
    name: 'a regexp',
    parser: '| regexp "^(?P<value>.*);(?P<other>\\\\d+);(?P<code>\\\\d)"',
    row: (value, other) => ({ line: separated(value, other) }),
  },
  { name: 'metadata', parser: '', row: (value, other) => ({ line: 'x', metadata: fieldsOf(value, other) }) },
  {
    name: 'fields',
    counted: 'statistics:ran',
    parser: '| json',
    row: (value, other) => ({ line: '', metadata: fieldsOf(value, other) }),
  },
  {
    name: 'JSON and fields',
    parser: '| json',
    row: (value, other) => ({
      line: other % 2 === 0 ? '' : JSON.stringify(fieldsOf(value, other)),
      metadata: other % 2 === 0 ? fieldsOf(value, other) : {},
    }),
  },
];

function entriesOf(values: readonly string[], { row }: Form): StoredEntry[] {
  return values.map((value, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a', pod: `pod-${n % 2}` },
    ...row(value, n),
  }));
}

for (const form of forms)
  test.serial(
    `rows of ${form.name} count by the outcome of comparisons as they would one by one`,
    async (t) => {
      t.timeout(300_000);
      const { parser } = form;
      await fc.assert(
        fc.asyncProperty(compared, fc.constantFrom(...endings), async ({ values, some }, ending) => {
          await store.push(entriesOf(values, form));
          const queries = some.flatMap((comparison) => [
            `sum by (code) (count_over_time({app="a"} ${parser} | ${comparison}${ending} [60s]))`,
            `sum(count_over_time({app="a"} ${parser} | ${comparison} | drop __error__, __error_details__ [60s]))`,
            `sum by (code) (sum_over_time({app="a"} ${parser} | ${comparison} | unwrap other${ending} [60s]))`,
          ]);
          await store.compare(t, queries);
        }),
        { numRuns: deepRuns(2, 9) },
      );
    },
  );

/** Comparisons of values by unit, each with the number of its outcomes. */
const casesByUnit: Readonly<Record<string, readonly (readonly [comparison: string, groups: number])[]>> = {
  '.5ms': [
    ['value > 100ms', 2],
    ['value > 100ms | value < 200ms', 3],
    ['value != ""', 1],
    ['value =~ ".*5ms"', 1],
  ],
  // VictoriaLogs stores these as integers.
  '': [
    ['value > 100', 2],
    ['value <= 100B', 2],
    ['value != ""', 1],
    ['value != "3"', 2],
  ],
};

test.serial(
  'the backend sends a group for each outcome of a comparison instead of one for each value',
  async (t) => {
    for (const [unit, cases] of Object.entries(casesByUnit))
      for (const form of forms) {
        const values = Array.from({ length: 290 }, (_none, n) => `${n}${unit}`);
        await store.push(entriesOf(values, form));
        for (const [comparison, groups] of cases) {
          const text = `sum(count_over_time({app="a"} ${form.parser} | ${comparison} | drop __error__ [300s]))`;
          await store.compareReading(t, [[text, form.counted ?? 'statistics:ran', 12 * groups + 14]], 10_000);
        }
      }
  },
);

test.serial('values equal to a limit are in the group of those on its side', async (t) => {
  const values = Array.from({ length: 290 }, (_none, n) => (n % 2 === 0 ? '100' : String(200 + n)));
  for (const form of forms) {
    await store.push(entriesOf(values, form));
    const text = `sum(count_over_time({app="a"} ${form.parser} | value >= 100 | drop __error__ [300s]))`;
    await store.compareReading(
      t,
      [[text, form.counted ?? 'statistics:ran', form.name === 'JSON and fields' ? 22 : 18]],
      10_000,
    );
  }
});

test.serial('values that an answer shows or that other stages read are kept', async (t) => {
  const values = Array.from({ length: 190 }, (_none, n) => String(400 + n));
  for (const form of forms) {
    const { parser } = form;
    await store.push(entriesOf(values, form));
    await store.compare(t, [
      `sum by (value) (count_over_time({app="a"} ${parser} | value > 500 [60s]))`,
      `sum by (size) (count_over_time({app="a"} ${parser} | value > 500 | label_format size="{{.value}}" [60s]))`,
      `sum by (code) (count_over_time({app="a"} ${parser} | label_format value="{{.other}}" | value > 100 [60s]))`,
      `sum by (code) (sum_over_time({app="a"} ${parser} | unwrap value | value > 500 [60s]))`,
      `max_over_time({app="a"} ${parser} | value > 500 | unwrap other [60s]) without (pod)`,
      `sum without (pod) (sum_over_time({app="a"} ${parser} | value > 500 | unwrap other [60s]))`,
      `max_over_time({app="a"} ${parser} | value > 500 | unwrap other [60s])`,
      `count_over_time({app="a"} ${parser} | value > 500 [60s])`,
    ]);
  }
});

test.serial(
  'a field that is a stream label, or another label by an expression, keeps its values',
  async (t) => {
    const rowsOf = (isStreamLabel: (n: number) => boolean): StoredEntry[] =>
      Array.from({ length: 190 }, (_none, n) => ({
        ns: base + BigInt(n) * second,
        stream: isStreamLabel(n) ? { app: 'a', value: '600' } : { app: 'a' },
        line: '',
        metadata: { other: String(n), ...(isStreamLabel(n) ? {} : { value: String(400 + n) }) },
      }));
    await store.push(rowsOf((n) => n % 4 === 0));
    const ofStreams = 'sum(count_over_time({app="a"} | json | value > 500 [60s]))';
    await store.compare(t, [ofStreams]);
    t.is((await store.tried(ofStreams)).at(-1), 'statistics:ran');
    await store.push(rowsOf(() => false));
    await store.compare(t, [
      'sum by (size) (count_over_time({app="a"} | json size="value", other="other" | value > 500 or other > 10 [60s]))',
    ]);
  },
);

test.serial('a field that VictoriaLogs has filled in is missing, whatever it is compared with', async (t) => {
  const filled = [
    { severity_number: '21', severity_text: 'Fatal', trace_id: '00000000000000000000000000000000' },
    { severity_number: '21', severity_text: 'FATAL', trace_id: '5b8efff798038103d269b633813fc60c' },
    { severity_number: '0', severity_text: 'Unspecified', 'scope.name': 'unknown' },
    { severity_number: '9', severity_text: 'Info', 'scope.name': 'shop' },
  ];
  await store.push(
    Array.from({ length: 180 }, (_none, n) => ({
      ns: base + BigInt(n) * second,
      stream: { app: 'a', 'service.version': '1' },
      line: 'x',
      metadata: { other: String(n), ...filled[n % 4] },
    })),
  );
  const fields = ['severity_text', 'severity_number', 'scope_name', 'trace_id'];
  await store.compare(
    t,
    fields.flatMap((name) => [
      `sum(count_over_time({app="a"} | ${name}!="" [60s]))`,
      `sum(count_over_time({app="a"} | ${name}="" [60s]))`,
      `sum by (service_version) (sum_over_time({app="a"} | ${name}!="" | unwrap other [60s]))`,
    ]),
  );
});

test.serial('stored decimals are compared as they are shown', async (t) => {
  // VictoriaLogs may return 0.3 as 0.30000000000000004.
  const values = Array.from({ length: 190 }, (_none, n) => String(n / 10));
  for (const form of forms.filter(({ row }) => row('', 0).metadata !== undefined)) {
    await store.push(entriesOf(values, form));
    const comparisons = ['value != "0.3"', 'value =~ ".*3"', 'value !~ ".*4"', 'value > 0.3', 'value == 5.7'];
    await store.compare(
      t,
      comparisons.map(
        (comparison) => `sum by (code) (count_over_time({app="a"} ${form.parser} | ${comparison} [60s]))`,
      ),
    );
  }
});
