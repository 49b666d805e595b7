import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../../setup/runs.js';
import { base, second } from './json-lines.js';
import { LineStore, linesInStreams, patternsWithEntries } from './line-store.js';

let store: LineStore;

test.before(async () => {
  store = await LineStore.open(90_000);
});
test.after.always(() => store.close());

const patterns = [
  '<_> "<method> <path>" <status> <size>',
  'GET <path> <_>',
  '<method> <path> [<status>]',
  '<<status>&gt;<_>',
  '<status> - - ',
  '<_>,<status>,<size>',
  '"<status>" <_>',
  '  <status> <size> ',
];
const words = [
  'GET',
  '"GET',
  '/a',
  '/a"',
  '200',
  '[404]',
  '-',
  ',',
  '<5',
  '&gt;',
  '"',
  '"x y"',
  "'",
  '7,8,9',
];

const lineBefore: Readonly<Record<string, string>> = {
  '<_> "<method> <path>" <status> <size>': '10.0.0.1 "GET /a" 200 ',
  'GET <path> <_>': 'GET ',
  '<method> <path> [<status>]': 'GET /a [200',
  '<<status>&gt;<_>': '<5&gt;',
};

const patternAndEntries = patternsWithEntries(patterns, words, lineBefore);

const queriesOf = (pattern: string): readonly string[] => {
  const parser = `| pattern \`${pattern}\``;
  return [
    `sum by (status) (count_over_time({app=~".+"} ${parser} [60s]))`,
    `sum by (app, method, path) (rate({app=~".+"} ${parser} [120s]))`,
    `sum by (status) (bytes_over_time({app="a"} ${parser} | status=~"2.+|4.." [60s]))`,
    `sum by (team) (count_over_time({app=~".+"} ${parser} | status >= 300 | __error__="" [60s]))`,
    `quantile_over_time(0.7, {app=~".+"} ${parser} | unwrap status | __error__="" [90s]) by (app)`,
    `last_over_time({app=~".+"} ${parser} | unwrap size | __error__="" [60s]) by (status)`,
    `absent_over_time({app="b"} ${parser} | status="200" [60s])`,
  ];
};

test.serial(
  'lines that are counted by the captures of a pattern count as they would one by one',
  async (t) => {
    t.timeout(300_000);
    await fc.assert(
      fc.asyncProperty(patternAndEntries, async ({ pattern, stored }) => {
        await store.push(stored);
        for (const text of queriesOf(pattern)) {
          const wanted = await store.outcome(text, 'off');
          // Checked twice: the second time all lines are proven to be what they look like.
          for (const time of ['first', 'second'])
            t.deepEqual(await store.outcome(text, 'on'), wanted, `${text}, ${time} time`);
        }
      }),
      { numRuns: deepRuns(4, 10) },
    );
  },
);

/** Lines with only a part of a pattern, or with empty values for its labels. */
const oddLines: Readonly<Record<string, readonly string[]>> = {
  '<path> [<status>]': ['/a [5]', '/a []', '/a [5', '/a', '[5]', ' [5]', '/a [5] [6]'],
  '-<status>': ['-5', '-', 'x', '+5'],
  '- <_> <status> ': ['- x 5 ', '- x 5', '- x  ', 'x', '+', '-', '- ', ' - x 5 ', '5 - x 6 '],
};

for (const [pattern, odd] of Object.entries(oddLines))
  test.serial(`lines are cut by the backend as one by one, whatever they have of ${pattern}`, async (t) => {
    await store.push(linesInStreams(odd));
    // A label with an empty value is a label.
    const text = `sum by (nr, status) (count_over_time({app="a"} | pattern \`${pattern}\` [60s]))`;
    await store.compareCounted(t, text);
  });

test.serial(
  'lines that a pattern cuts are counted and gathered by the backend, and shortened elsewhere',
  async (t) => {
    const stored = Array.from({ length: 290 }, (_, n) => ({
      ns: base + BigInt(n) * second,
      stream: { app: 'a', pod: `pod-${n % 3}` },
      line: `10.0.0.${n % 250} - "GET / ${n % 2 === 0 ? 'error: ' : ''}${'x'.repeat(200)}" <${n % 3 === 0 ? 500 : 200}> &lt; ${n / 10};`,
    }));
    await store.push(stored);
    const parser = '| pattern `<ip> - "<method> <_>" <<status>> &lt; <took>;`';
    const cases = [
      [`sum by (status) (count_over_time({app="a"} ${parser} [60s]))`, 'statistics:ran', 40],
      [`sum by (pod) (rate({app="a"} ${parser} | status="500" [60s]))`, 'statistics:ran', 60],
      [
        `quantile_over_time(0.9, {app="a"} ${parser} | unwrap took [60s]) by (status)`,
        'value-groups:ran',
        40,
      ],
      [`last_over_time({app="a"} ${parser} | unwrap took [60s]) by (status)`, 'short-lines:ran', 400],
    ] as const;
    await store.compareReading(t, cases, 290 * 200);
    // Bytes and levels are those of the whole lines.
    await store.compare(t, [
      `sum by (took) (bytes_over_time({app="a"} ${parser} [60s]))`,
      `last_over_time({app="a"} ${parser} | unwrap took [60s]) by (status, detected_level)`,
    ]);
  },
);
