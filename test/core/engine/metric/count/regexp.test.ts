import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../../setup/runs.js';
import { base, second } from './json-lines.js';
import { LineStore, linesInStreams, patternsWithEntries } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(95_000);
});
test.after.always(() => store.close());

const patterns = [
  '"(?P<method>\\w+) (?P<path>\\S+)" (?P<status>\\d+) (?P<size>\\d+)',
  '^GET (?P<path>.+)$',
  '(?P<status>\\d*)(?P<size>[a-z]*)',
  '(?P<method>GET|POST|-)(?: (?P<path>/\\S+))? (?P<status>[0-9]{3})',
  '(?i)(?P<method>get) .*(?P<status>\\d)',
  '(?P<path>/\\w+)\\B',
  '(?:(?P<status>[45]\\d\\d)|(?P<size>\\d+)) ',
  '(?s)(?P<method>G.T).(?P<status>.)',
  '(?:(?P<status>\\d),)+(?P<size>\\d)',
  '\\b(?P<status>[^ "]+)$',
  '(?P<path>\\pL+) (?P<status>\\d+)',
];
const words = [
  'GET',
  'get',
  '"GET',
  'POST',
  '/a',
  '/ab"',
  '200',
  '404',
  '-',
  ',',
  '5',
  '7,8,9',
  'é',
  '\n',
  '"',
];

const matchingLines: Readonly<Record<string, string>> = {
  '"(?P<method>\\w+) (?P<path>\\S+)" (?P<status>\\d+) (?P<size>\\d+)': '10.0.0.1 "GET /a" 200 12',
  '(?P<method>GET|POST|-)(?: (?P<path>/\\S+))? (?P<status>[0-9]{3})': 'GET /a 200',
  '(?:(?P<status>\\d),)+(?P<size>\\d)': '1,2,3',
};

const patternAndEntries = patternsWithEntries(patterns, words, matchingLines);

const queriesOf = (pattern: string): readonly string[] => {
  const parser = `| regexp ${JSON.stringify(pattern)}`;
  return [
    `sum by (status) (count_over_time({app=~".+"} ${parser} [60s]))`,
    `sum by (app, method, path) (rate({app=~".+"} ${parser} [120s]))`,
    `sum by (status) (bytes_over_time({app="a"} ${parser} | status=~"2.+|4.." [60s]))`,
    `sum by (app) (count_over_time({app=~".+"} ${parser} | status >= 300 | __error__="" [60s]))`,
    `quantile_over_time(0.7, {app=~".+"} ${parser} | unwrap status | __error__="" [90s]) by (app)`,
    `sum by (status) (sum_over_time({app=~".+"} ${parser} | unwrap size | __error__="" [60s]))`,
    `absent_over_time({app="b"} ${parser} | status="200" [60s])`,
  ];
};

test.serial('lines that are counted by the groups of a regexp count as they would one by one', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(patternAndEntries, async ({ pattern, stored }) => {
      await store.push(stored);
      await store.compare(t, queriesOf(pattern));
    }),
    { numRuns: deepRuns(10, 80) },
  );
});

/** Lines that match with all groups of a pattern, with some, or not at all. */
const oddLines: readonly (readonly [pattern: string, lines: readonly string[]])[] = [
  ['(?P<a>\\w+)=(?P<status>\\d*)', ['x=5', 'x=', 'x', '=5', 'x=5 y=6']],
  ['^(?P<status>\\d)?', ['5', 'x', '5 6']],
  ['(?:s=(?P<status>\\d)|t)', ['s=5', 't', 's', 'ts=5']],
  ['(?P<status>[a-z]+)\\B', ['ab', 'a', 'ab-', 'abc.']],
  ['x.(?P<status>.)', ['x\n5', 'x 5', 'x5', 'x y\nz']],
];

for (const [pattern, odd] of oddLines)
  test.serial(
    `lines are counted by the backend as one by one, whatever ${pattern} finds in them`,
    async (t) => {
      await store.push(linesInStreams(odd));
      // A label with an empty value is a label.
      const text = `sum by (nr, status) (count_over_time({app="a"} | regexp ${JSON.stringify(pattern)} [60s]))`;
      await store.compareCounted(t, text);
    },
  );

test.serial('lines that a regexp matches are counted and gathered by the backend', async (t) => {
  const stored = Array.from({ length: 290 }, (_, n) => ({
    ns: base + BigInt(n) * second,
    stream: { app: 'a', pod: `pod-${n % 3}` },
    line: `10.0.0.${n % 250} - "GET /${'x'.repeat(200)}" <${n % 3 === 0 ? 500 : 200}> & ${n / 10};`,
  }));
  await store.push(stored);
  const parser =
    '| regexp `^(?P<ip>\\S+) - "(?P<method>\\w+) [^"]+" <(?P<status>\\d{3})> & (?P<took>[^;]+);$`';
  const cases = [
    [`sum by (status) (count_over_time({app="a"} ${parser} [60s]))`, 'statistics:ran', 40],
    [`sum by (pod) (rate({app="a"} ${parser} | status="500" [60s]))`, 'statistics:ran', 60],
    [`quantile_over_time(0.9, {app="a"} ${parser} | unwrap took [60s]) by (status)`, 'value-groups:ran', 40],
  ] as const;
  await store.compareReading(t, cases, 290 * 200);
});

test.serial('lines with values that no written line shows are read', async (t) => {
  // Text follows the value in each line; in a line that was only the match, nothing would follow.
  await store.push(linesInStreams(['x=ab.5', 'x=ab.6', 'x=ac.5']));
  const parser = '| regexp `x=(?P<status>\\w+?)(?:\\B|\\.)`';
  await store.compare(t, [
    `sum by (status) (count_over_time({app="a"} ${parser} [60s]))`,
    `sum by (status) (sum_over_time({app="a"} ${parser} | unwrap status | __error__="" [60s]))`,
  ]);
});
