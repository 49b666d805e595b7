import test from 'ava';
import fc from 'fast-check';
import type { LogsqlFilter, LogsqlPipe } from '../../../../core/victoria/logsql/ast.js';
import {
  and,
  compare,
  everything,
  exact,
  fields,
  limit,
  matcher,
  not,
  phrase,
  query,
  sortByTime,
  stats,
  statsFunction,
  streamMatch,
  substring,
  timeBucket,
  union,
  where,
} from '../../../../core/victoria/logsql/build.js';
import type { Split } from '../../../../core/victoria/stores/split.js';
import type { BackendRow, Upstream } from '../../../../core/victoria/upstream/types.js';
import type { TimeRange } from '../../../../core/base/time/range.js';
import { PairedStores, type PlacedRow } from './store-pair.js';
import { deepRuns } from '../../../setup/runs.js';

const originNs = 1_700_000_000_000_000_000n;
const secondNs = 1_000_000_000n;
const spanSeconds = 40_000;

const time = fc.oneof(
  fc.integer({ min: 0, max: spanSeconds }).map((at) => originNs + BigInt(at) * secondNs),
  // Many rows at a few times.
  fc.integer({ min: 0, max: 8 }).map((at) => originNs + BigInt(at) * 5_000n * secondNs + 1n),
);
const rowFields = fc.record(
  {
    app: fc.constantFrom('a', 'b'),
    pod: fc.constantFrom('x', 'y', ''),
    _msg: fc.constantFrom('GET /', 'error 5', 'error 7', 'time=1', 'né'),
    status: fc.constantFrom('200', '500', '5ms', ''),
    size: fc.constantFrom('1', '2.5', '100'),
  },
  { requiredKeys: ['app', '_msg'] },
);
const count = fc.nat({ max: 2 });

interface Case {
  readonly split: Split;
  readonly rows: readonly PlacedRow[];
  readonly range: TimeRange;
  readonly isPoor: boolean;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    boundary: time,
    overlap: fc.constantFrom(0n, 600n, 5_000n, 15_000n).map((seconds) => seconds * secondNs),
    rows: fc.array(fc.record({ ns: time, fields: rowFields, hot: count, cold: count }), {
      minLength: 20,
      maxLength: 60,
    }),
    bounds: fc.tuple(time, time, fc.boolean()),
    isPoor: fc.boolean(),
  })
  .map(({ boundary, overlap, rows, bounds: [one, other, isAll], isPoor }) => {
    const split = { hotFromNs: boundary - overlap, coldEndNs: boundary + overlap };
    const end = originNs + BigInt(spanSeconds + 1) * secondNs;
    const range = isAll
      ? { startNs: originNs, endNs: end }
      : one < other
        ? { startNs: one, endNs: other }
        : { startNs: other, endNs: one };
    const byContent = new Map<string, PlacedRow>();
    for (const row of rows) byContent.set(contentOf(row), placed(row, split));
    return { split, rows: [...byContent.values()], range, isPoor };
  });

/** Equal for rows that are the same to a store: an empty field is the same as none. */
function contentOf({ ns, fields: own }: PlacedRow): string {
  return JSON.stringify([
    String(ns),
    Object.entries(own)
      .filter(([, value]) => value !== '')
      .sort(),
  ]);
}

/** Outside of the overlap, a row exists only in the store of its side. */
function placed(row: PlacedRow, { hotFromNs, coldEndNs }: Split): PlacedRow {
  const most = Math.max(row.hot, row.cold, 1);
  if (row.ns < hotFromNs) return { ...row, hot: 0, cold: most };
  if (row.ns >= coldEndNs) return { ...row, hot: most, cold: 0 };
  return row.hot + row.cold === 0 ? { ...row, hot: 1 } : row;
}

const filters: readonly LogsqlFilter[] = [
  everything,
  streamMatch(matcher('app', '=', 'a')),
  and(streamMatch(matcher('app', '=~', 'a|b')), phrase('_msg', 'error'), not(exact('status', '500'))),
];

const rowPipes: readonly (readonly LogsqlPipe[])[] = [
  [],
  [fields('_time', '_msg', '_stream')],
  [where(substring('_msg', 'error')), fields('_time', 'status')],
  [{ kind: 'format', pattern: '<app>-<status>', as: 'made' }],
];

const missing = exact('status', '');
const groupings: readonly LogsqlPipe[] = [
  stats([], statsFunction('count', [], 'rows')),
  stats(['_stream'], statsFunction('count', [], 'rows'), statsFunction('sum_len', ['_msg'], 'bytes')),
  stats(
    ['app', timeBucket(3_600n * secondNs, -1n)],
    statsFunction('count', [], 'rows'),
    statsFunction('min', ['_time'], 'first'),
    statsFunction('max', ['_time'], 'last'),
  ),
  stats(
    ['_stream'],
    { ...statsFunction('count', [], 'rows'), condition: not(missing) },
    statsFunction('count_uniq_hash', ['_time', '_msg', 'status'], 'different'),
    statsFunction('sum', ['size'], 'sum'),
  ),
  stats([], statsFunction('count_uniq', ['_stream_id', '_time', '_msg'], 'entries')),
  // Results of these cannot be added.
  stats(['app'], statsFunction('count_uniq', ['status'], 'values')),
  stats(['app'], statsFunction('avg', ['size'], 'middle')),
];

let stores: PairedStores;
test.before(async () => {
  stores = await PairedStores.open();
});
test.after.always(() => stores.close());

const settings = { numRuns: deepRuns(5, 10), endOnFailure: true };

test('rows of two stores are those of one that has them all', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(cases, fc.integer({ min: 1, max: 30 }), async ({ rows, split, range, isPoor }, most) => {
      const { whole, two } = await stores.store(rows, split, isPoor);
      for (const filter of filters)
        for (const pipes of rowPipes) {
          const asked = { query: query(filter, pipes), range };
          const all = await read(whole, asked);
          t.deepEqual(await read(two, asked), all);
          const cut = { query: query(filter, [...pipes, limit(most)]), range };
          const some = await read(two, cut);
          t.is(some.length, Math.min(most, all.length));
          t.deepEqual(without(some, all), []);
          if (pipes.some(({ kind }) => kind === 'format')) continue;
          const newest = { ...asked, newest: most };
          t.deepEqual(timesOf(await read(two, newest)), timesOf(await read(whole, newest)));
          t.deepEqual(without(await read(two, newest), all), []);
          const oldest = { query: query(filter, [...pipes, sortByTime(most)]), range };
          t.deepEqual(timesOf(await read(two, oldest)), timesOf(await read(whole, oldest)));
          t.deepEqual(without(await read(two, oldest), all), []);
        }
    }),
    settings,
  );
});

test('statistics of two stores are those of one that has all rows', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(cases, async ({ rows, split, range, isPoor }) => {
      const { whole, two } = await stores.store(rows, split, isPoor);
      for (const filter of filters)
        for (const grouping of groupings) {
          const asked = { query: query(filter, [grouping]), range };
          t.deepEqual(await read(two, asked), await read(whole, asked));
          const others = query(and(filter, missing), [stats([], statsFunction('count', [], 'missing'))]);
          const both = { ...asked, query: query(filter, [grouping, union(others)]) };
          t.deepEqual(await read(two, both), await read(whole, both));
          const samples = async (store: Upstream): Promise<readonly string[]> =>
            (await store.stats(asked))
              .map(({ name, labels, value }) => shown([name, [...labels], value]))
              .sort();
          if (!isByBucket(grouping)) t.deepEqual(await samples(two), await samples(whole));
          for (const step of [600n, 7_000n]) {
            const ranged = { ...asked, stepNs: step * secondNs, shiftNs: 1n };
            const series = async (store: Upstream): Promise<readonly string[]> =>
              (await store.statsRange(ranged))
                .map(({ name, labels, points }) => shown([name, [...labels], points]))
                .sort();
            if (!isByBucket(grouping)) t.deepEqual(await series(two), await series(whole));
          }
        }
    }),
    settings,
  );
});

test('groups of two stores can be filtered and cut like those of one', async (t) => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ rows, split, range, isPoor }) => {
      const { whole, two } = await stores.store(rows, split, isPoor);
      const repeated = [
        stats(['_time', '_msg', 'status'], statsFunction('count', [], 'rows')),
        where(compare('rows', '>', '1')),
        fields('_time'),
        limit(1000),
      ];
      const once: readonly LogsqlPipe[] = [
        { kind: 'uniq', by: ['_stream', '_time', '_msg', 'status'], hits: false },
        stats(
          ['_stream', timeBucket(3_600n * secondNs)],
          statsFunction('count', [], 'rows'),
          { ...statsFunction('sum_len', ['_msg'], 'lines'), condition: not(missing) },
          statsFunction('min', ['_time'], 'first'),
        ),
      ];
      for (const piped of [repeated, once]) {
        const asked = { query: query(everything, piped), range };
        t.deepEqual(await read(two, asked), await read(whole, asked));
      }
      const pipes = [stats(['_msg'], statsFunction('count', [], 'rows')), limit(3)];
      const all = await read(whole, { query: query(everything, pipes.slice(0, 1)), range });
      const cut = await read(two, { query: query(everything, pipes), range });
      t.is(cut.length, Math.min(3, all.length));
    }),
    settings,
  );
});

test('listings of two stores are those of one that has all rows', async (t) => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ rows, split, range, isPoor }) => {
      const { whole, two } = await stores.store(rows, split, isPoor);
      const listings = [
        { listing: 'streams' },
        { listing: 'stream_field_names' },
        { listing: 'stream_field_values', field: 'pod' },
        { listing: 'field_values', field: 'status' },
        { listing: 'field_names' },
      ] as const;
      for (const filter of filters)
        for (const listing of listings) {
          const asked = { ...listing, query: query(filter), range };
          const [found, wanted] = [await two.list(asked), await whole.list(asked)];
          const values = (list: typeof found): readonly string[] => list.map(({ value }) => value).sort();
          t.deepEqual(values(await two.list({ ...asked, hits: 'any' })), values(wanted));
          if (listing.listing === 'field_names') t.deepEqual(values(found), values(wanted));
          else t.deepEqual(found.map(shown).sort(), wanted.map(shown).sort());
        }
    }),
    settings,
  );
});

function isByBucket(pipe: LogsqlPipe): boolean {
  return pipe.kind === 'stats' && pipe.by.some(({ field }) => field === '_time');
}

async function read(store: Upstream, request: Parameters<Upstream['rows']>[0]): Promise<readonly string[]> {
  const rows: string[] = [];
  for await (const batch of store.rows(request)) for (const row of batch) rows.push(textOf(row));
  return rows.sort();
}

/** Leaves out stream ids, because each backend assigns its own. */
function textOf(row: BackendRow): string {
  return shown(
    Object.entries(row)
      .filter(([name, value]) => value !== '' && name !== '_stream_id')
      .sort(),
  );
}

function shown(value: unknown): string {
  return JSON.stringify(value);
}

/** The rows of a list that another list lacks, counting repeated rows. */
function without(rows: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const row of others) left.set(row, (left.get(row) ?? 0) + 1);
  return rows.filter((row) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0;
  });
}

function timesOf(rows: readonly string[]): readonly string[] {
  return rows.map((row) => /"_time","(?<time>[^"]*)"/.exec(row)?.groups?.['time'] ?? '').sort();
}
