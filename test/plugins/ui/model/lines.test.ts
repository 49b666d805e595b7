import test from 'ava';
import fc from 'fast-check';
import { histogramOfRows } from '../../../../plugins/ui/browser/model/histogram.js';
import { logRows, type LogRow } from '../../../../plugins/ui/browser/model/log-rows.js';
import { markerOf } from '../../../../plugins/ui/browser/model/match-marks.js';
import { joined, mostRows, nextPage, pageSize } from '../../../../plugins/ui/browser/model/paging.js';
import { matching, seriesOf } from '../../../../plugins/ui/browser/model/series.js';
import { makeHost } from '../../../../core/testing/index.js';
import { explainForPage } from '../../../../plugins/ui/explain.js';

/** A fake server with lines at these times; as in Loki, the end is not part of the range. */
function pageOf(
  all: readonly bigint[],
  range: { readonly startNs: bigint; readonly endNs: bigint },
  limit: number,
  direction: 'backward' | 'forward',
): readonly LogRow[] {
  const sign = direction === 'backward' ? -1 : 1;
  const lines = all
    .map((ns, index) => [ns, `line ${index}`] as const)
    .filter(([ns]) => ns >= range.startNs && ns < range.endNs)
    .sort(([a], [b]) => sign * Number(a - b))
    .slice(0, limit);
  return logRows(
    [{ stream: { app: 'a' }, values: lines.map(([ns, line]) => [String(ns), line]) }],
    direction,
  );
}

test('page by page every line comes once, many at one instant too', (t) => {
  const instants = fc.array(fc.bigInt({ min: 1_000_000n, max: 1_000_012n }), { maxLength: 60 });
  fc.assert(
    fc.property(
      instants,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('backward', 'forward'),
      (all, limit, direction) => {
        const range = { startNs: 1_000_000n, endNs: 1_000_013n };
        let rows = pageOf(all, range, limit, direction);
        for (let isFull = rows.length >= limit; isFull;) {
          const next = nextPage(rows, range, limit, direction);
          if (next === undefined) break;
          const page = pageOf(all, next.range, next.limit, direction);
          rows = joined(rows, page, direction);
          isFull = page.length >= next.limit;
        }
        t.is(rows.length, all.length);
        t.is(new Set(rows.map(({ key }) => key)).size, all.length);
        const sign = direction === 'backward' ? -1n : 1n;
        t.true(
          rows.every(({ ns }, at) => at === 0 || sign * (BigInt(ns) - BigInt(rows[at - 1]?.ns ?? 0)) >= 0n),
        );
      },
    ),
    { endOnFailure: true },
  );
});

test('more lines at an instant than can be asked for are told to be left out', (t) => {
  const all = Array.from({ length: 5_000 }, () => 7n);
  const rows = pageOf(all, { startNs: 0n, endNs: 9n }, 5_000, 'backward');
  t.deepEqual(nextPage(rows, { startNs: 0n, endNs: 9n }, 5_000, 'backward'), {
    range: { startNs: 0n, endNs: 7n },
    limit: 5_000,
    skipsTies: true,
  });
});

test('pages grow with what is read, up to what the page holds', (t) => {
  t.is(pageSize(20, 20), 20);
  t.is(pageSize(400, 20), 400);
  t.is(pageSize(4_000, 20), 1_000);
  t.is(pageSize(4_000, 5_000), 5_000);
  t.is(pageSize(mostRows - 7, 100), 7);
  t.is(pageSize(mostRows, 100), 0);
  const rows = pageOf([7n, 8n], { startNs: 0n, endNs: 9n }, 9, 'backward');
  t.is(nextPage(rows, { startNs: 0n, endNs: 9n }, 0, 'backward'), undefined);
});

test('a histogram of all lines has exactly these', (t) => {
  const rows = logRows(
    [
      {
        stream: { level: 'error' },
        values: [
          ['61000000000', 'a'],
          ['60000000000', 'b'],
        ],
      },
      {
        stream: {},
        values: [
          ['1', 'c'],
          ['119999999999', 'd'],
        ],
      },
    ],
    'backward',
  );
  const { bars, totals } = histogramOfRows(rows, { startMs: 60_000, endMs: 120_000 }, 60);
  t.deepEqual(
    bars.map(({ total }) => total),
    [2, 2],
  );
  t.deepEqual(totals, [
    ['error', 2],
    ['unknown', 2],
  ]);
});

test('a line tells its error while it is closed', (t) => {
  const [row] = logRows(
    [{ stream: {}, values: [['1', 'x', { parsed: { __error__: 'JSONParserErr' } }]] }],
    'backward',
  );
  t.is(row?.error, 'JSONParserErr');
});

async function marked(query: string, line: string): Promise<string> {
  const { marks } = await explainForPage(new Map([['query', [query]]]), makeHost(), undefined);
  return markerOf(
    marks,
    () => 0,
  )(line)
    .map(({ text, isMatch }) => (isMatch ? `<${text}>` : text))
    .join('');
}

test('what line filters look for is marked', async (t) => {
  t.is(await marked('{a="b"} |= "err" |= "[x]"', 'an err in [x], err'), 'an <err> in <[x]>, <err>');
  t.is(await marked('{a="b"} |~ "took [0-9]+ms"', 'it took 12ms'), 'it <took 12ms>');
  t.is(await marked('{a="b"} |~ "(?i)error"', 'An ERROR'), 'An <ERROR>');
  t.is(await marked('{a="b"} |= "abc" |= "bcd"', 'abcd'), '<abc><d>');
  t.is(await marked('{a="b"} |~ "x|yy|^it"', 'it yy x'), '<it> <yy> <x>');
  t.is(await marked('{a="b"} != "err"', 'an err'), 'an err');
  t.is(await marked('{a="b"} | json', ''), '');
});

test('marking changes no line', async (t) => {
  const { marks } = await explainForPage(
    new Map([['query', ['{a="b"} |= "a" |~ "b+c?" |~ "(?i)d."']]]),
    makeHost(),
    undefined,
  );
  const marker = markerOf(marks, () => 0);
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'D', ' ', '😀', '"') }), (line) => {
      t.is(
        marker(line)
          .map(({ text }) => text)
          .join(''),
        line,
      );
    }),
    { endOnFailure: true },
  );
});

const values = [[1, '1']] as const;

test('series that differ by level have the colours of levels, others do not', (t) => {
  const colours = (metrics: readonly Readonly<Record<string, string>>[]): readonly string[] =>
    seriesOf(metrics.map((metric) => ({ metric, values }))).map(({ colour }) => colour);
  t.deepEqual(
    new Set(colours([{ detected_level: 'error' }, { level: 'info' }, {}])),
    new Set(['level-error', 'level-info', 'level-unknown']),
  );
  t.deepEqual(
    colours([
      { level: 'info', app: 'a' },
      { level: 'info', app: 'b' },
    ]),
    ['series-0', 'series-1'],
  );
  t.deepEqual(colours([{}]), ['series-0']);
});

test('series are found by words of their names', (t) => {
  const series = seriesOf([
    { metric: { app: 'Shop', env: 'prod' }, values },
    { metric: { app: 'cart' }, values },
  ]);
  t.is(matching(series, '').length, 2);
  t.deepEqual(
    matching(series, 'prod shop').map(({ labels }) => labels['app']),
    ['Shop'],
  );
});
