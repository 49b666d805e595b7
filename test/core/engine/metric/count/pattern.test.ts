import test from 'ava';
import fc from 'fast-check';
import { ApiError } from '../../../../../core/base/errors/api-error.js';
import { runs } from '../../../../setup/runs.js';
import { MetricStore, rangeRequest, valuesOf, type StoredEntry } from '../metric-store.js';
import { base, second, streams } from './json-lines.js';

let store: MetricStore;
let account = 80_000;

test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

/** The values of the answer, or the text of its error. */
async function outcome(text: string, pushdown: 'on' | 'off'): Promise<unknown> {
  const request = rangeRequest(text, base, base + 300n * second, 60n * second);
  try {
    return valuesOf((await store.run(request, { account, pushdown })).answer);
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

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

const line = fc
  .array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(' ', ' ', ' ', '  ', '', '\t')), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.map((part) => part.join('')).join(''));
const lineBefore: Readonly<Record<string, string>> = {
  '<_> "<method> <path>" <status> <size>': '10.0.0.1 "GET /a" 200 ',
  'GET <path> <_>': 'GET ',
  '<method> <path> [<status>]': 'GET /a [200',
  '<<status>&gt;<_>': '<5&gt;',
};

/** Few different lines, each of them often. */
const entriesOf = (pattern: string): fc.Arbitrary<readonly StoredEntry[]> =>
  fc
    .uniqueArray(
      fc.tuple(fc.constantFrom('', '', lineBefore[pattern] ?? ''), line).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 4 },
    )
    .chain((lines) =>
      fc.array(
        fc.record({
          at: fc.integer({ min: 0, max: 300 }),
          stream: fc.constantFrom(...streams),
          line: fc.constantFrom(...lines),
        }),
        { minLength: 40, maxLength: 80 },
      ),
    )
    .map((made) =>
      made.map(({ at, stream, line: text }) => ({
        ns: base + BigInt(at) * second,
        stream,
        line: text,
        metadata: at % 24 === 0 ? { status: 'meta' } : {},
      })),
    );

const patternAndEntries = fc
  .constantFrom(...patterns)
  .chain((pattern) => entriesOf(pattern).map((stored) => ({ pattern, stored })));

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
        account += 1;
        await store.push(account, stored);
        for (const text of queriesOf(pattern)) {
          const wanted = await outcome(text, 'off');
          // The second time all lines are proved to be what they look like.
          for (const time of ['first', 'second'])
            t.deepEqual(await outcome(text, 'on'), wanted, `${text}, ${time} time`);
        }
      }),
      { numRuns: runs(10, 80) },
    );
  },
);

/** Lines with only a part of a pattern, or with nothing for its labels. */
const oddLines: Readonly<Record<string, readonly string[]>> = {
  '<path> [<status>]': ['/a [5]', '/a []', '/a [5', '/a', '[5]', ' [5]', '/a [5] [6]'],
  '-<status>': ['-5', '-', 'x', '+5'],
  '- <_> <status> ': ['- x 5 ', '- x 5', '- x  ', 'x', '+', '-', '- ', ' - x 5 ', '5 - x 6 '],
};

for (const [pattern, odd] of Object.entries(oddLines))
  test.serial(`lines are cut by the backend as one by one, whatever they have of ${pattern}`, async (t) => {
    account += 1;
    const stored = odd.flatMap((text, index) =>
      Array.from({ length: 12 }, (_, n) => ({
        ns: base + BigInt(n * 20) * second,
        stream: { app: 'a', nr: String(index) },
        line: text,
      })),
    );
    await store.push(account, stored);
    // A label without a value is a label.
    const text = `sum by (nr, status) (count_over_time({app="a"} | pattern \`${pattern}\` [60s]))`;
    const request = rangeRequest(text, base, base + 300n * second, 60n * second);
    const { answer, tried } = await store.run(request, { account });
    t.deepEqual(valuesOf(answer), await outcome(text, 'off'));
    t.is(tried.at(-1), 'statistics:ran');
  });

test.serial(
  'lines that a pattern cuts are counted and gathered by the backend, and shortened elsewhere',
  async (t) => {
    account += 1;
    const stored = Array.from({ length: 290 }, (_, n) => ({
      ns: base + BigInt(n) * second,
      stream: { app: 'a', pod: `pod-${n % 3}` },
      line: `10.0.0.${n % 250} - "GET /${'x'.repeat(200)}" <${n % 3 === 0 ? 500 : 200}> &lt; ${n / 10};`,
    }));
    await store.push(account, stored);
    const parser = '| pattern `<ip> - "<method> <_>" <<status>> &lt; <took>;`';
    for (const [text, way, most] of [
      [`sum by (status) (count_over_time({app="a"} ${parser} [60s]))`, 'statistics:ran', 40],
      [`sum by (pod) (rate({app="a"} ${parser} | status="500" [60s]))`, 'statistics:ran', 60],
      [
        `quantile_over_time(0.9, {app="a"} ${parser} | unwrap took [60s]) by (status)`,
        'value-groups:ran',
        40,
      ],
      [`last_over_time({app="a"} ${parser} | unwrap took [60s]) by (status)`, 'short-lines:ran', 400],
    ] as const) {
      const wanted = await outcome(text, 'off');
      t.true(JSON.stringify(wanted).includes('@'), text);
      for (const time of ['first', 'second', 'third'])
        t.deepEqual(await outcome(text, 'on'), wanted, `${text} ${time}`);
      const request = rangeRequest(text, base, base + 300n * second, 60n * second);
      const { calls, tried } = await store.run(request, { account });
      t.is(tried.at(-1), way, text);
      t.true(calls.reduce((sum, { rows }) => sum + rows, 0) <= most, text);
      t.true(calls.reduce((sum, { bytes }) => sum + bytes, 0) < 290 * 200, text);
    }
  },
);
