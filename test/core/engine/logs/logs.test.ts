import test from 'ava';
import fc from 'fast-check';
import type { StreamsAnswer } from '../../../../core/wire/answer/types.js';
import { Query, type QueryRangeRequest } from '../../../../core/wire/api/request.js';
import { unboundedMemory } from '../../../../core/base/memory/account.js';
import { everything } from '../../../../core/victoria/logsql/build.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { logsPlan } from '../plan/planned.js';
import type { LogsPlan } from '../../../../core/engine/plan/types.js';
import { FakeClock, makeHost } from '../../../../core/testing/index.js';
import { createMemories } from '../../../../core/engine/memories.js';
import { engineMetrics } from '../../../../core/engine/metrics.js';
import { answerLogs } from '../../../../core/engine/logs/logs.js';
import { MemoryUpstream, type MemoryRow } from '../memory-upstream.js';
import { noWorkers } from '../../logql/lines-here.js';

const naming = new Naming(namesOptions());
const reader = new RowReader(naming);
const base = 1793491200000000000n;

function requestWith(change: Partial<QueryRangeRequest>): QueryRangeRequest {
  return {
    op: 'query_range',
    query: new Query('{app=~".+"}', 'reject'),
    range: { startNs: base, endNs: base + 1000n },
    stepNs: 1n,
    limit: 100,
    direction: 'backward',
    intervalNs: 0n,
    ...change,
  };
}

function planOf(text: string): LogsPlan {
  const { ast } = new Query(text, 'reject');
  if (ast.kind !== 'log') throw new Error('not a log query');
  return { ...logsPlan(ast, naming), filter: everything };
}

async function answer(
  rows: readonly MemoryRow[],
  change: Partial<QueryRangeRequest> = {},
  text = '{app=~".+"}',
  countsAs?: number,
): Promise<{ answer: StreamsAnswer; upstream: MemoryUpstream }> {
  const upstream = new MemoryUpstream(rows);
  upstream.countsAs = countsAs;
  const context = {
    upstream,
    reader,
    clock: new FakeClock(),
    signal: new AbortController().signal,
    workers: noWorkers,
    showsGroups: true,
    memories: createMemories(makeHost({ metrics: engineMetrics })),
    derive: undefined,
    memory: unboundedMemory(),
  };
  return { answer: await answerLogs(planOf(text), requestWith(change), context), upstream };
}

function entriesOf({ streams }: StreamsAnswer): readonly string[] {
  return streams.flatMap(({ labels, entries }) =>
    entries.map((entry) => `${labels.get('app')} ${entry.timestampNs - base} ${entry.line}`),
  );
}

const rows: readonly MemoryRow[] = [
  { ns: base + 1n, stream: 'a', line: 'one' },
  { ns: base + 2n, stream: 'b', line: 'two' },
  { ns: base + 3n, stream: 'a', line: 'three' },
  { ns: base + 3n, stream: 'a', line: 'three' },
  { ns: base + 3n, stream: 'b', line: 'three' },
];

test('backward gives the newest first, streams by their newest entry, repeats once', async (t) => {
  const { answer: made } = await answer(rows);
  t.deepEqual([...entriesOf(made)].sort(), ['a 1 one', 'a 3 three', 'b 2 two', 'b 3 three']);
  for (const { entries } of made.streams)
    t.true((entries[0]?.timestampNs ?? 0n) > (entries[1]?.timestampNs ?? 0n));
  t.is(made.stats.entriesReturned, 4);
});

test('forward gives the oldest first', async (t) => {
  const { answer: made } = await answer(rows, { direction: 'forward', limit: 2 });
  t.deepEqual(entriesOf(made), ['a 1 one', 'b 2 two']);
});

function lines(count: number): readonly MemoryRow[] {
  return Array.from({ length: count }, (_, index) => ({
    ns: base + BigInt(index),
    stream: 'a',
    line: `l${index}`,
  }));
}

test('of few rows, with nothing left to evaluate, one page of the limit is asked for', async (t) => {
  const { upstream } = await answer(lines(50), { limit: 20 });
  t.deepEqual(
    upstream.requests.map(({ newest }) => newest),
    [20],
  );
});

for (const direction of ['backward', 'forward'] as const) {
  test(`of many rows, ${direction}, a span of time that should have enough is read, and the next where it had not`, async (t) => {
    const range = { startNs: base, endNs: base + 100_000n };
    const { answer: made, upstream } = await answer(lines(100_000), { limit: 1000, direction, range });
    t.is(made.stats.entriesReturned, 1000);
    t.deepEqual(
      upstream.requests.map(({ newest, query, range: { startNs, endNs } }) => [
        newest,
        query.pipes.length,
        endNs - startNs,
      ]),
      [[undefined, 0, 1145n]],
    );
    const { answer: misled, upstream: other } = await answer(
      lines(100_000),
      { limit: 1000, direction, range },
      '{app=~".+"}',
      1_000_000,
    );
    t.deepEqual(entriesOf(misled), entriesOf(made));
    t.is(other.requests.length, 2);
    const read = other.requests.reduce((sum, { range: { startNs, endNs } }) => sum + (endNs - startNs), 0n);
    t.true(read < 1300n, `${read} rows were read`);
  });
}

test('rows that repeat make room for older ones', async (t) => {
  const repeated = Array.from({ length: 6 }, () => ({ ns: base + 9n, stream: 'a', line: 'same' }));
  const { answer: made } = await answer([...repeated, { ns: base + 1n, stream: 'a', line: 'old' }], {
    limit: 2,
  });
  t.deepEqual(entriesOf(made), ['a 9 same', 'a 1 old']);
});

test('residual stages drop lines until enough pass', async (t) => {
  const many = Array.from({ length: 3000 }, (_, index) => ({
    ns: base + BigInt(index),
    stream: 'a',
    line: index % 1000 === 0 ? 'keep me' : 'drop',
  }));
  const { answer: made, upstream } = await answer(
    many,
    { limit: 3, range: { startNs: base, endNs: base + 3000n } },
    '{app="a"} !> "drop<_>" |= ip("10.0.0.0/8") or "keep"',
  );
  t.deepEqual(entriesOf(made), ['a 2000 keep me', 'a 1000 keep me', 'a 0 keep me']);
  t.deepEqual(
    upstream.requests.map(({ newest }) => newest),
    [undefined, undefined],
  );
  t.is(made.stats.linesProcessed, 3000);
});

test('an interval keeps entries apart, over all streams', async (t) => {
  const many = Array.from({ length: 30 }, (_, index) => ({
    ns: base + BigInt(index),
    stream: index % 2 === 0 ? 'a' : 'b',
    line: `l${index}`,
  }));
  const { answer: made } = await answer(many, { intervalNs: 10n, direction: 'forward' });
  t.deepEqual(entriesOf(made), ['a 0 l0', 'a 10 l10', 'a 20 l20']);
});

test('with an interval the first entry of an hour of the clock is kept', async (t) => {
  const hourNs = 3_600_000_000_000n;
  const turn = (base / hourNs + 1n) * hourNs;
  const around = [-20n, -5n, -1n, 0n, 3n, 12n].map((ns) => ({ ns: turn + ns, stream: 'a', line: `l${ns}` }));
  const range = { startNs: turn - 60n, endNs: turn + 60n };
  const linesOf = async (direction: 'forward' | 'backward'): Promise<readonly string[]> =>
    entriesOf((await answer(around, { intervalNs: 10n, direction, range })).answer).map(
      (entry) => entry.split(' ')[2] ?? '',
    );
  t.deepEqual(await linesOf('forward'), ['l-20', 'l-5', 'l0', 'l12']);
  t.deepEqual(await linesOf('backward'), ['l12', 'l0', 'l-1', 'l-20']);
});

test('the groups stay empty where they are not to be shown', async (t) => {
  const context = {
    upstream: new MemoryUpstream(rows),
    reader,
    clock: new FakeClock(),
    signal: new AbortController().signal,
    workers: noWorkers,
    showsGroups: false,
    memories: createMemories(makeHost({ metrics: engineMetrics })),
    derive: undefined,
    memory: unboundedMemory(),
  };
  const made = await answerLogs(planOf('{app="a"}'), requestWith({}), context);
  t.true(
    made.streams.every(({ entries }) =>
      entries.every(({ structuredMetadata }) => structuredMetadata.size === 0),
    ),
  );
});

test('the lines that line_format makes for one answer may have 16 MiB', async (t) => {
  const long = Array.from({ length: 300 }, (_, index) => ({
    ns: base + BigInt(index),
    stream: 'a',
    line: 'x'.repeat(60_000),
  }));
  const text = '{app=~".+"} | line_format `{{__line__}}`';
  await t.notThrowsAsync(answer(long, { limit: 279 }, text));
  await t.throwsAsync(answer(long, { limit: 280 }, text), { message: 'line_format output limit exceeded' });
  // Unchanged lines are limited by the number of entries alone.
  await t.notThrowsAsync(answer(long, { limit: 300 }));
});

test('an aborted request stops between pages', async (t) => {
  const context = {
    upstream: new MemoryUpstream(rows),
    reader,
    clock: new FakeClock(),
    signal: AbortSignal.abort(new Error('gone')),
    workers: noWorkers,
    showsGroups: true,
    memories: createMemories(makeHost({ metrics: engineMetrics })),
    derive: undefined,
    memory: unboundedMemory(),
  };
  await t.throwsAsync(answerLogs(planOf('{app="a"}'), requestWith({}), context), { message: 'gone' });
});

test('whatever the ties, the limit and the count told, the entries are those of a whole sort', async (t) => {
  const row = fc.record({
    at: fc.integer({ min: 0, max: 6 }),
    stream: fc.constantFrom('a', 'b'),
    line: fc.constantFrom('x', 'y', 'z', 'drop'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      fc.boolean(),
      fc.boolean(),
      fc.option(fc.nat(100_000), { nil: undefined }),
      async (made, limit, isForward, filters, countsAs) => {
        const stored = made.map(({ at, stream, line }) => ({ ns: base + BigInt(at), stream, line }));
        const direction = isForward ? 'forward' : 'backward';
        const { answer: got } = await answer(
          stored,
          { limit, direction },
          filters ? '{app=~".+"} !> "drop"' : '{app=~".+"}',
          countsAs,
        );
        const wanted = [
          ...new Set(
            stored
              .filter(({ line }) => !filters || line !== 'drop')
              .map(({ ns, stream, line }) => `${stream} ${ns - base} ${line}`),
          ),
        ];
        const times = wanted
          .map((text) => Number(text.split(' ')[1]))
          .sort((a, b) => (isForward ? a - b : b - a));
        const found = entriesOf(got);
        t.is(new Set(found).size, found.length);
        t.true(found.every((text) => wanted.includes(text)));
        t.deepEqual(
          found.map((text) => Number(text.split(' ')[1])).sort((a, b) => (isForward ? a - b : b - a)),
          times.slice(0, limit),
        );
      },
    ),
    { numRuns: 300 },
  );
});

test('where nearly all rows lie at the near end, and the backend sends those of the far end first, few calls do', async (t) => {
  const range = { startNs: base, endNs: base + 1_000_000_000n };
  // The oldest rows come last in the list, and this backend sends them first.
  const stored = Array.from({ length: 100_000 }, (_, index) => ({
    ns: range.endNs - 1n - BigInt(index),
    stream: 'a',
    line: `l${index}`,
  }));
  const { answer: made, upstream } = await answer(stored, { limit: 10, range });
  t.deepEqual(
    made.streams.flatMap(({ entries }) => entries.map(({ line }) => line)),
    Array.from({ length: 10 }, (_, index) => `l${index}`),
  );
  t.true(upstream.requests.length < 20, `${upstream.requests.length} calls`);
});

for (const direction of ['backward', 'forward'] as const) {
  for (const cluster of [0, 20_000]) {
    test(`${direction}, long spans ask for the rows they may have at most, ${cluster} rows in a second`, async (t) => {
      const minuteNs = 60_000_000_000n;
      const range = { startNs: base, endNs: base + 40_000n * minuteNs };
      const sparse = Array.from({ length: 4000 }, (_, index) => BigInt(index) * 10n * minuteNs);
      const dense = Array.from({ length: cluster }, (_, index) => 20_000n * minuteNs + BigInt(index));
      const stored = [...sparse, ...dense].map((at) => ({ ns: base + at, stream: 'a', line: `l${at}` }));
      const limit = 2100;
      const { answer: made, upstream } = await answer(stored, { limit, direction, range });
      const order = (a: bigint, b: bigint): number => Number(direction === 'forward' ? a - b : b - a);
      const wanted = [...new Set([...sparse, ...dense])].sort(order).slice(0, limit);
      t.deepEqual(
        made.streams.flatMap(({ entries }) => entries.map(({ timestampNs }) => timestampNs - base)),
        wanted,
      );
      const hourNs = 60n * minuteNs;
      for (const { newest, query, range: asked } of upstream.requests)
        t.true(newest !== undefined || query.pipes.length > 0 || asked.endNs - asked.startNs <= hourNs);
      t.true(upstream.requests.length < 20, `${upstream.requests.length} calls`);
    });
  }
}
