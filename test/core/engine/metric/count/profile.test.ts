import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import { streamMatch, matcher } from '../../../../../core/victoria/logsql/build.js';
import { defaultNamingSettings, Naming } from '../../../../../core/victoria/names/naming.js';
import { RowReader } from '../../../../../core/victoria/names/row-reader.js';
import type { RowsRequest } from '../../../../../core/victoria/upstream/types.js';
import { FakeUpstream, type ExpectedCall } from '../../../../../core/testing/index.js';
import {
  onceProfiled,
  SelectionProfiler,
  type Profiles,
  type SelectionProfile,
} from '../../../../../core/engine/metric/count/profile.js';
import { stretchesOf } from '../../../../../core/engine/metric/count/stretches.js';

const hourNs = 3_600_000_000_000n;
const naming = new Naming(defaultNamingSettings);
const reader = new RowReader(naming);
const selection = streamMatch(matcher('env', '=', 'x'));
const stream = '{env="x"}';

test('stretches follow each other from end to end, and whole ones begin behind multiples of their length', (t) => {
  const times = fc.bigInt(1n, 3000n * hourNs);
  fc.assert(
    fc.property(times, times, (a, b) => {
      const range = a < b ? { startNs: a, endNs: b } : { startNs: b, endNs: a + 1n };
      const stretches = stretchesOf(range);
      t.is(stretches[0]?.startNs, range.startNs);
      t.is(stretches.at(-1)?.endNs, range.endNs);
      t.true(stretches.length <= 14 + 2 * 12);
      for (const [index, { startNs, endNs, isWhole }] of stretches.entries()) {
        t.true(startNs < endNs);
        if (index > 0) t.is(stretches[index - 1]?.endNs, startNs);
        if (isWhole) t.is(startNs % (endNs - startNs), 1n);
      }
    }),
  );
});

const newProfiler = (): SelectionProfiler => new SelectionProfiler(new Map(), new Map());

/** What is found of 13 hours of so many rows when the backend answers by this script, and nothing else. */
function find(
  profiler: Profiles,
  hits: number,
  ...script: readonly ExpectedCall[]
): Promise<SelectionProfile> {
  return findUntil(13n * hourNs, profiler, hits, ...script);
}

function findUntil(
  lastNs: bigint,
  profiler: Profiles,
  hits: number,
  ...script: readonly ExpectedCall[]
): Promise<SelectionProfile> {
  const upstream = new FakeUpstream(script);
  const request = { upstream, reader, naming, selection, columns: ['env'] };
  return profiler.of(request, { startNs: 1n, endNs: lastNs + 1n }, [{ value: stream, hits }]);
}

/** What the rows of statistics are grouped by. */
function columnsOf({ pipes }: RowsRequest['query']): readonly string[] {
  return pipes.flatMap((pipe) => (pipe.kind === 'stats' ? pipe.by.map(({ field }) => field) : []));
}

function look(rows: number, changes: Readonly<Record<string, string>> = {}): ExpectedCall {
  const row = { _stream: stream, env: 'x', rows: String(rows), different: String(rows), missing: '0' };
  const when = ({ query }: RowsRequest): boolean => !isDeepStrictEqual(columnsOf(query), ['_stream']);
  return { call: 'rows', when, batches: [[{ ...row, ...changes }]] };
}

const nothingSpecial = {
  streamsWithSharedTimes: new Set<string>(),
  repeatedAt: [],
  repeatedRows: [],
  missing: 0,
  isHidden: false,
  unreliable: 0,
  doubtful: 0,
};

test('hours that were looked at are looked at again when rows came in, and only then', async (t) => {
  const profiler = newProfiler();
  const looks = Array.from({ length: 13 }, () => look(2));
  t.deepEqual(await find(profiler, 26, ...looks), nothingSpecial);
  t.deepEqual(await find(profiler, 26), nothingSpecial);
  const twice = look(3, { different: '2' });
  const pairs: ExpectedCall = {
    call: 'rows',
    when: ({ query }) => isDeepStrictEqual(columnsOf(query), ['_stream']),
    batches: [[{ _stream: stream, rows: '3', different: '3' }]],
  };
  const found = await find(profiler, 27, pairs, twice, ...looks.slice(1));
  t.deepEqual(found, { ...nothingSpecial, streamsWithSharedTimes: new Set([stream]) });
});

test('a row that has another value in a column than its stream hides it, and rows without a line are counted', async (t) => {
  const looks = Array.from({ length: 11 }, () => look(2));
  const found = await find(newProfiler(), 29, look(2, { env: 'y' }), look(5, { missing: '3' }), ...looks);
  t.deepEqual(found, { ...nothingSpecial, missing: 3, isHidden: true });
});

test('what is left at the end of a range is looked at each time, and hours in front of it are listed', async (t) => {
  const profiler = newProfiler();
  const lastNs = 13n * hourNs + 1n;
  const looks = Array.from({ length: 14 }, () => look(2));
  t.deepEqual(await findUntil(lastNs, profiler, 28, ...looks), nothingSpecial);
  const listed: ExpectedCall = { call: 'list', values: [{ value: stream, hits: 26 }] };
  const found = await findUntil(lastNs, profiler, 29, listed, look(3, { missing: '1' }));
  t.deepEqual(found, { ...nothingSpecial, missing: 1 });
});

test('strategies of one request that look at the same rows make one look, and another after one that failed', async (t) => {
  const lastNs = 3_600n;
  const once = onceProfiled(newProfiler());
  await t.throwsAsync(findUntil(lastNs, once, 2));
  const found = await findUntil(lastNs, once, 2, look(2, { missing: '1' }));
  t.deepEqual(found, { ...nothingSpecial, missing: 1 });
  t.deepEqual(await findUntil(lastNs, once, 2), found);
  // Another range, and another request, are others.
  await t.throwsAsync(findUntil(lastNs + 1n, once, 2));
  await t.throwsAsync(findUntil(lastNs, onceProfiled(newProfiler()), 2));
});
