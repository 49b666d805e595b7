import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import type { Clock } from '../../../../../core/base/clock.js';
import type { TimeRange } from '../../../../../core/base/time/range.js';
import { matcher, streamMatch } from '../../../../../core/victoria/logsql/build.js';
import { Naming } from '../../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../../core/testing/options.js';
import { RowReader } from '../../../../../core/victoria/names/row-reader.js';
import type { ListingRequest, RowsRequest } from '../../../../../core/victoria/upstream/types.js';
import { FakeUpstream, type ExpectedCall } from '../../../../../core/testing/index.js';
import {
  memoizedProfiles,
  SelectionProfiler,
  type ProfileSource,
  type SelectionProfile,
} from '../../../../../core/engine/metric/count/profile.js';
import { StreamChecksums } from '../../../../../core/engine/metric/count/stream-listing.js';
import { segmentsOf, wholeSegments } from '../../../../../core/engine/metric/count/time-segments.js';

const hourNs = 3_600_000_000_000n;
const naming = new Naming(namesOptions());
const reader = new RowReader(naming);
const selection = streamMatch(matcher('env', '=', 'x'));
const stream = '{env="x"}';

test('stretches follow each other from end to end, and whole ones begin behind multiples of their length', (t) => {
  const times = fc.bigInt(1n, 3000n * hourNs);
  fc.assert(
    fc.property(times, times, (a, b) => {
      const range = a < b ? { startNs: a, endNs: b } : { startNs: b, endNs: a + 1n };
      const segments = segmentsOf(range);
      t.is(segments[0]?.startNs, range.startNs);
      t.is(segments.at(-1)?.endNs, range.endNs);
      t.true(segments.length <= 26 + 2 * (6 + 5 + 3 + 3 + 2 + 1));
      for (const [index, { startNs, endNs, isWhole }] of segments.entries()) {
        t.true(startNs < endNs);
        if (index > 0) t.is(segments[index - 1]?.endNs, startNs);
        if (isWhole) t.is(startNs % (endNs - startNs), 1n);
      }
    }),
  );
});

test('whole stretches hold a range, and are nothing but whole ones where it is as long as one', (t) => {
  const fiveMinutesNs = hourNs / 12n;
  fc.assert(
    fc.property(
      fc.bigInt(1n, 3000n * hourNs),
      fc.bigInt(fiveMinutesNs, 200n * hourNs),
      (startNs, lengthNs) => {
        const range = { startNs, endNs: startNs + lengthNs };
        const whole = wholeSegments(range);
        t.true(whole.startNs <= range.startNs && range.endNs <= whole.endNs);
        t.true(whole.endNs - whole.startNs < lengthNs + 2n * fiveMinutesNs);
        t.true(segmentsOf(whole).every(({ isWhole }) => isWhole));
        t.deepEqual(wholeSegments(whole), whole);
      },
    ),
  );
});

const clock = { nowNs: () => 4000n * hourNs };
const newProfiler = (at: Pick<Clock, 'nowNs'> = clock): SelectionProfiler =>
  new SelectionProfiler(new Map(), new Map(), new Map(), { checksums: new StreamChecksums(), clock: at });

/** The profile of 13 hours with this number of rows, if the backend answers with this script and nothing else. */
function find(
  profiler: ProfileSource,
  hits: number,
  ...script: readonly ExpectedCall[]
): Promise<SelectionProfile> {
  return findUntil(13n * hourNs, profiler, hits, ...script);
}

function findUntil(
  lastNs: bigint,
  profiler: ProfileSource,
  hits: number,
  ...script: readonly ExpectedCall[]
): Promise<SelectionProfile> {
  return findBetween({ startNs: 1n, endNs: lastNs + 1n }, profiler, hits, ...script);
}

function findBetween(
  range: TimeRange,
  profiler: ProfileSource,
  hits: number,
  ...script: readonly ExpectedCall[]
): Promise<SelectionProfile> {
  const upstream = Object.assign(new FakeUpstream(script), { unites: true });
  const request = { upstream, reader, naming, selection, columns: ['env'] };
  return profiler.of(request, range, { range: wholeSegments(range), listed: [{ value: stream, hits }] });
}

/** The fields by which statistics group rows. */
function columnsOf({ pipes }: RowsRequest['query']): readonly string[] {
  return pipes.flatMap((pipe) => (pipe.kind === 'stats' ? pipe.by.map(({ field }) => field) : []));
}

type Changes = Readonly<Record<string, string>>;

/**
 * A call that inspects segments of one length, or of several lengths, and the backend's response: the rows of each segment, and the number
 * of rows without a line (`missing`).
 */
function look(
  segments: readonly (readonly [rows: number, changes?: Changes])[],
  lengthMs = 3_600_000,
): ExpectedCall {
  const placed = (index: number): Changes =>
    segments.length > 1
      ? { stretch: String(index), _time: `${new Date(index * lengthMs).toISOString().slice(0, -1)}000001Z` }
      : {};
  const rows = segments.map(([count, changes = {}], index) => ({
    ...{ ...placed(index), _stream: stream, env: 'x' },
    ...{ rows: String(count), different: String(count), ...changes },
  }));
  const missing = segments.flatMap(([, changes], index) =>
    changes?.['missing'] === undefined ? [] : [{ ...placed(index), missing: changes['missing'] }],
  );
  return {
    ...{ call: 'rows', when: ({ query }) => columnsOf(query).includes('env') },
    batches: [rows, missing],
  };
}

const alike = (count: number): readonly (readonly [rows: number, changes?: Changes])[] =>
  Array.from({ length: count }, () => [2] as const);

const nothingSpecial = {
  streamsWithSharedTimes: new Set<string>(),
  repeatedAt: [],
  dense: [],
  surplusElsewhere: [],
  surplusAt: [],
  surplus: [],
  missing: 0,
  hasLines: true,
  hasOverrides: false,
  misparsedRows: 0,
  uncertainStreams: undefined,
  uncertainRows: [],
  uncorrectedStreams: undefined,
  streamsWithLevel: undefined,
};

test('an hour that was looked at is looked at again when rows came in, and only then', async (t) => {
  const profiler = newProfiler();
  t.deepEqual(await find(profiler, 26, look(alike(13))), nothingSpecial);
  t.deepEqual(await find(profiler, 26), nothingSpecial);
  const shared: ExpectedCall = {
    call: 'rows',
    when: ({ query }) => isDeepStrictEqual(columnsOf(query), ['_time', '_stream']),
    batches: [[]],
  };
  const listed = [
    [0, 6, 13],
    [6, 13, 14],
    [0, 3, 7],
    [3, 6, 6],
    [0, 1, 3],
    [1, 3, 4],
  ] as const;
  const lists = listed.map(([from, to, hits]): ExpectedCall => ({
    call: 'list',
    when: ({ range }: ListingRequest) =>
      range.startNs === BigInt(from) * hourNs + 1n && range.endNs === BigInt(to) * hourNs + 1n,
    values: [{ value: stream, hits }],
  }));
  const found = await find(profiler, 27, shared, ...lists, look([[3, { different: '2' }]]));
  t.deepEqual(found, { ...nothingSpecial, streamsWithSharedTimes: new Set([stream]) });
});

test('where several queries are several calls, each stretch is looked at by itself', async (t) => {
  const listBoth = (): Promise<never> => Promise.reject(new Error('both are not listed here'));
  const upstream = Object.assign(new FakeUpstream(alike(13).map((one) => look([one]))), { listBoth });
  const request = { upstream, reader, naming, selection, columns: ['env'] };
  const range = { startNs: 1n, endNs: 13n * hourNs + 1n };
  const found = await newProfiler().of(request, range, { range, listed: [{ value: stream, hits: 26 }] });
  t.deepEqual(found, nothingSpecial);
});

const minuteNs = hourNs / 60n;
const minutes = (from: bigint, to: bigint): TimeRange => ({
  startNs: from * minuteNs + 1n,
  endNs: to * minuteNs + 1n,
});

test('what is known of short stretches is known of the long one that they make', async (t) => {
  const profiler = newProfiler();
  for (const from of [0n, 15n, 30n, 45n])
    await findBetween(minutes(from, from + 15n), profiler, 2, look([[2]]));
  t.deepEqual(await findBetween(minutes(0n, 60n), profiler, 8), nothingSpecial);
});

test('what is known of an hour is known of its parts after one listing, unless rows came in', async (t) => {
  const profiler = newProfiler();
  const hours = [[10, { env: 'y' }], [10]] as const;
  await findBetween(minutes(0n, 5n), profiler, 2, look([[2]]));
  await findBetween(minutes(0n, 120n), profiler, 20, look(hours));
  const listed = (hits: number): ExpectedCall => ({ call: 'list', values: [{ value: stream, hits }] });
  const overridden = { ...nothingSpecial, hasOverrides: true };
  t.deepEqual(await findBetween(minutes(10n, 40n), profiler, 5, listed(10)), overridden);
  // The profile of the hour replaces the profile of its start.
  t.deepEqual(await findBetween(minutes(0n, 10n), profiler, 3, listed(10)), overridden);
  // Both ends of the range are parts of known hours.
  t.deepEqual(await findBetween(minutes(5n, 70n), profiler, 11, listed(20)), overridden);
  const [changed, unchanged, now] = [listed(11), listed(10), look([[11]])];
  const found = await findBetween(minutes(5n, 70n), profiler, 12, listed(21), changed, unchanged, now);
  t.deepEqual(found, nothingSpecial);
});

test('a row that has another value in a column than its stream hides it, and rows without a line are counted', async (t) => {
  const hours = [...alike(11), [2, { env: 'y' }], [5, { missing: '3' }]] as const;
  const found = await find(newProfiler(), 29, look(hours));
  t.deepEqual(found, { ...nothingSpecial, missing: 3, hasOverrides: true });
});

test('the stretch that rows are still added to is looked at each time, and hours in front of it are listed', async (t) => {
  const lastNs = 13n * hourNs + 1n;
  const profiler = newProfiler({ nowNs: () => lastNs + 1000n });
  t.deepEqual(await findUntil(lastNs, profiler, 28, look(alike(14))), nothingSpecial);
  const listed: ExpectedCall = { call: 'list', values: [{ value: stream, hits: 26 }] };
  const found = await findUntil(lastNs, profiler, 29, listed, look([[3, { missing: '1' }]]));
  t.deepEqual(found, { ...nothingSpecial, missing: 1 });
});

test('a range that begins and ends elsewhere in the same stretches is not looked at, and has no repeats from outside it', async (t) => {
  const profiler = newProfiler();
  const range = (fromNs: bigint): TimeRange => ({
    startNs: hourNs / 60n + fromNs,
    endNs: hourNs / 10n + fromNs,
  });
  const repeated = { _time: new Date(90_000).toISOString(), _stream: stream, _msg: 'a' };
  const script: readonly ExpectedCall[] = [
    look([[4, { different: '3' }], [2]], 300_000),
    {
      call: 'rows',
      when: ({ query }) => isDeepStrictEqual(columnsOf(query), ['_time', '_stream']),
      batches: [[repeated]],
    },
    { call: 'rows', batches: [[repeated, repeated]] },
  ];
  const first = await findBetween(range(0n), profiler, 6, ...script);
  t.deepEqual(first.surplus, [repeated]);
  t.deepEqual(first.repeatedAt, [90_000_000_000n]);
  const second = await findBetween(range(60_000_000_000n), profiler, 6);
  t.deepEqual([second.surplus, second.repeatedAt], [[], []]);
});

test('strategies of one request that look at the same rows make one look, and another after one that failed', async (t) => {
  const lastNs = 3_600n;
  const once = memoizedProfiles(newProfiler());
  await t.throwsAsync(findUntil(lastNs, once, 2));
  const found = await findUntil(lastNs, once, 2, look([[2, { missing: '1' }]]));
  t.deepEqual(found, { ...nothingSpecial, missing: 1 });
  t.deepEqual(await findUntil(lastNs, once, 2), found);
  // Another range or another request is inspected again.
  await t.throwsAsync(findUntil(lastNs + 1n, once, 2));
  await t.throwsAsync(findUntil(lastNs, memoizedProfiles(newProfiler()), 2));
});

test('of too many groups by columns, repeats and rows are counted by stream', async (t) => {
  const groups = Array.from({ length: 50_000 }, (_, n) => ({
    ...{ _stream: stream, env: `e${n}`, rows: '1', different: '1' },
  }));
  const found = await findUntil(
    hourNs,
    newProfiler(),
    50_001,
    { call: 'rows', when: ({ query }) => columnsOf(query).includes('env'), batches: [groups] },
    {
      ...{ call: 'rows', when: ({ query }) => !columnsOf(query).includes('env') },
      batches: [[{ _stream: stream, rows: '50001', different: '50000' }]],
    },
    // The stretches with shared times, and these times.
    { call: 'rows', batches: [[{ _time: '1970-01-01T00:30:00Z', streams: '1' }]] },
    { call: 'rows', batches: [[]] },
  );
  t.deepEqual(found, {
    ...nothingSpecial,
    streamsWithSharedTimes: new Set([stream]),
    hasOverrides: true,
  });
});
