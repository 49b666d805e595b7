import test from 'ava';
import fc from 'fast-check';
import type { TailRowsRequest, BackendRow } from '../../../../core/victoria/upstream/types.js';
import type { TailContext } from '../../../../core/engine/tail/context.js';
import { follow, entriesOf, linesOf, msOf, type LateRow } from './following.js';
import { deepRuns } from '../../../setup/runs.js';
import { backendRow } from './rows.js';

const reorderMs = 1_000;
const settledMs = 25_000;

const noLag = fc.constant({ a: 0, b: 0, c: 0 });

/** Rows that senders push in time order, batched or not, and that the backend shows within the reorder window. */
const pushedInOrder = (
  lags: fc.Arbitrary<Readonly<Record<'a' | 'b' | 'c', number>>>,
): fc.Arbitrary<LateRow[]> =>
  fc
    .array(
      fc.record({
        app: fc.constantFrom('a', 'b', 'c'),
        stepMs: fc.integer({ min: 0, max: 200 }),
        hiddenMs: fc.oneof(fc.constantFrom(0, reorderMs), fc.integer({ min: 0, max: reorderMs })),
      }),
      { minLength: 1, maxLength: 40 },
    )
    .chain((steps) =>
      fc.record({
        steps: fc.constant(steps),
        lagMs: lags,
      }),
    )
    .map(({ steps, lagMs }): LateRow[] => {
      let pushedMs = 0;
      return steps.map(({ app, stepMs, hiddenMs }, index) => {
        pushedMs += stepMs;
        // Some rows have equal times.
        const atMs = pushedMs - lagMs[app];
        return { app, atMs, visibleMs: pushedMs + hiddenMs, line: `${index}` };
      });
    });

/** Returns the times one after the other, and repeats them forever. */
function cycle(times: readonly number[]): () => number {
  let at = 0;
  return () => times[at++ % times.length] ?? 0;
}

const gaps = fc.array(fc.integer({ min: 20, max: 600 }), { minLength: 5 });
const durations = fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 5 });

const someLag = fc.record({
  a: fc.integer({ min: 0, max: 2_500 }),
  b: fc.constant(0),
  c: fc.constant(1_000),
});

test('in whatever order the backend shows lines that were pushed in order, each is sent once and those of a stream in order', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      pushedInOrder(someLag),
      gaps,
      durations,
      fc.integer({ min: 0, max: 12_000 }),
      async (rows, gapsMs, pollsMs, failsAtMs) => {
        const { sent } = await follow(
          {
            rows,
            gapMs: cycle(gapsMs),
            pollMs: cycle(pollsMs),
            isFailing: (atMs) => atMs >= failsAtMs && atMs < failsAtMs + 1_000,
          },
          settledMs,
        );
        const last = new Map<string, number>();
        for (const line of entriesOf(sent)) {
          const app = line.labels.key;
          if (msOf(line) < (last.get(app) ?? -Infinity)) return false;
          last.set(app, msOf(line));
        }
        const lines = linesOf(sent);
        return lines.length === rows.length && new Set(lines).size === rows.length;
      },
    ),
    { numRuns: deepRuns(25, 80) },
  );
  t.pass();
});

test('lines of all streams are in order where senders push them without a lag', async (t) => {
  await fc.assert(
    fc.asyncProperty(pushedInOrder(noLag), gaps, durations, async (rows, gapsMs, pollsMs) => {
      const { sent } = await follow({ rows, gapMs: cycle(gapsMs), pollMs: cycle(pollsMs) }, settledMs);
      const times = entriesOf(sent).map(msOf);
      t.deepEqual(
        times,
        [...times].sort((a, b) => a - b),
      );
      t.is(times.length, rows.length);
    }),
    { numRuns: deepRuns(25, 80) },
  );
});

test('a stream whose times lag behind holds no other one up for longer than two reorder windows', async (t) => {
  const lagging = Array.from({ length: 200 }, (_, index): LateRow => {
    const pushedMs = index * 50;
    return { app: 'lagging', atMs: pushedMs - reorderMs / 2, visibleMs: pushedMs, line: `lagging ${index}` };
  });
  const rows: LateRow[] = [...lagging, { app: 'a', atMs: 5_000, visibleMs: 5_000, line: 'a' }];
  const { sent } = await follow({ rows, gapMs: () => 100 }, settledMs);
  const sentMs = sent.find((each) => linesOf([each]).includes('a'))?.atMs ?? Infinity;
  t.true(sentMs > 5_000 + reorderMs && sentMs <= 5_000 + 2 * reorderMs + 300, `after ${sentMs} ms`);
  t.is(linesOf(sent).length, rows.length);
});

test('a line that comes after younger ones were sent is sent when it is found, and delays none', async (t) => {
  const rows: LateRow[] = [
    { atMs: 100, visibleMs: 100, line: 'a' },
    { atMs: 0, visibleMs: 2_500, line: 'late' },
    { atMs: 4_100, visibleMs: 4_100, line: 'b' },
    { atMs: 6_000 - 15_000, visibleMs: 7_000, line: 'very late' },
  ];
  const { sent } = await follow({ rows, rules: { reorderMs: 1_200 } }, settledMs);
  t.deepEqual(linesOf(sent), ['a', 'late', 'b', 'very late']);
  const sentMs = (line: string): number => sent.find((each) => linesOf([each]).includes(line))?.atMs ?? 0;
  t.is(sentMs('a'), 1_800);
  t.is(sentMs('b'), 5_400);
});

test('lines up to 15 s late are sent also where too many lines come to read all of that time again', async (t) => {
  const rows: LateRow[] = Array.from({ length: 3_000 }, (_value, index) => ({
    atMs: index * 10,
    visibleMs: index * 10,
    line: `${index}`,
  }));
  const late: LateRow[] = Array.from({ length: 30 }, (_value, index) => ({
    atMs: 5 + index * 1_000 - 15_000,
    visibleMs: index * 1_000 + reorderMs,
    line: `late ${index}`,
  }));
  const { sent } = await follow({ rows: [...rows, ...late] }, 60_000);
  t.is(new Set(linesOf(sent)).size, 3_030);
  t.is(linesOf(sent).length, 3_030);
});

test('a poll reads what may be late, and only now and then all of that where many lines come', async (t) => {
  const rows: LateRow[] = Array.from({ length: 6_000 }, (_value, index) => ({
    atMs: index * 10,
    visibleMs: index * 10,
    line: `${index}`,
  }));
  const { polls } = await follow({ rows }, 60_000);
  const settled = polls.filter(({ atMs }) => atMs > 30_000);
  const isDeep = settled.map(({ atMs, fromMs }) => atMs - fromMs > 5_000);
  t.true(settled.every(({ atMs, fromMs }) => atMs - fromMs < 24_000));
  t.true(isDeep.filter(Boolean).length <= settled.length / 4);
});

test('without a reorder window lines are sent as they are found', async (t) => {
  const rows: LateRow[] = [
    { atMs: 200, visibleMs: 200, line: 'b' },
    { atMs: 100, visibleMs: 700, line: 'a' },
  ];
  const { sent } = await follow({ rows, rules: { reorderMs: 0 } }, settledMs);
  t.deepEqual(
    sent.map((each) => [each.atMs, ...linesOf([each])]),
    [
      [600, 'b'],
      [1_200, 'a'],
    ],
  );
});

test('a delay includes the reorder window', async (t) => {
  const rows: LateRow[] = [
    { atMs: 10_000, visibleMs: 10_500, line: 'b' },
    { atMs: 9_900, visibleMs: 14_500, line: 'a' },
  ];
  const { sent } = await follow({ rows, delayMs: 5_000, gapMs: () => 100 }, settledMs);
  t.deepEqual(
    sent.map((each) => [each.atMs, ...linesOf([each])]),
    [[15_000, 'a', 'b']],
  );
});

test('a failed poll is reported and made up for', async (t) => {
  const rows: LateRow[] = [{ atMs: 100, visibleMs: 100, line: 'a' }];
  const { sent } = await follow({ rows, isFailing: (atMs) => atMs < 1_000 }, settledMs);
  t.deepEqual(
    sent.map(({ event }) => event.kind),
    ['trouble', 'entries'],
  );
  t.deepEqual(linesOf(sent), ['a']);
});

test('polls that fail come less often, and hold lines back for a while only', async (t) => {
  const rows: LateRow[] = [{ atMs: 100, visibleMs: 100, line: 'a' }];
  const { sent, polls } = await follow({ rows, isFailing: (atMs) => atMs > 1_000 }, 60_000);
  t.deepEqual(linesOf(sent), ['a']);
  t.true(polls.length < 12, String(polls.length));
  const gaps = polls.slice(1).map(({ atMs }, index) => atMs - (polls[index]?.atMs ?? 0));
  t.true(gaps.every((gap) => gap <= 10_000));
});

test('when too many lines wait, all of them are sent early, in order', async (t) => {
  const line = 'x'.repeat(3 * 1024 * 1024);
  const rows: LateRow[] = [1, 2, 3, 4].map((atMs) => ({ atMs, visibleMs: 10, line: `${atMs}${line}` }));
  const { sent } = await follow({ rows }, settledMs);
  t.deepEqual(
    sent.map((each) => [
      each.event.kind === 'entries' && each.event.isEarly,
      ...linesOf([each]).map((text) => text.slice(0, 1)),
    ]),
    [
      [true, '1', '2', '3'],
      [false, '4'],
    ],
  );
});

/** A fake tail of the backend that sends batches when it is opened, and nothing afterwards. */
class QuietTail {
  readonly requests: TailRowsRequest[] = [];

  constructor(
    private readonly batches: readonly (readonly BackendRow[])[],
    private readonly end: () => Promise<void> = () => new Promise(() => undefined),
  ) {}

  readonly tail: TailContext['upstream']['tail'] = (request) => {
    this.requests.push(request);
    const { batches, end } = this;
    return Promise.resolve(
      (async function* rows(): AsyncGenerator<readonly BackendRow[]> {
        yield* batches;
        await end();
      })(),
    );
  };
}

test('native lines get into order with those that polls find', async (t) => {
  const openedNs = 1_793_491_200_000_000_000n;
  const upstream = new QuietTail([[backendRow(openedNs + 200_000_000n, 'b')]]);
  const rows: LateRow[] = [
    { atMs: 200, visibleMs: 200, line: 'b' },
    { atMs: 100, visibleMs: 1_100, line: 'a' },
  ];
  const { sent } = await follow({ rows, rules: { mode: 'native' }, upstream }, settledMs);
  t.deepEqual(linesOf(sent), ['a', 'b']);
  t.like(upstream.requests[0], { offsetNs: 0n, openTimeoutMs: 50, startOffsetMs: 15_000, refreshMs: 600 });
});

test('a delay holds back the tail of the backend, less the reorder window', async (t) => {
  const upstream = new QuietTail([]);
  await follow({ rows: [], delayMs: 3_000, rules: { mode: 'native' }, upstream }, 1_000);
  t.is(upstream.requests[0]?.offsetNs, 2_000_000_000n);
});

test('while the tail of the backend is silent, polls look for late lines only', async (t) => {
  const { polls } = await follow(
    { rows: [], rules: { mode: 'native' }, upstream: new QuietTail([]) },
    60_000,
  );
  t.true(polls.length > 8 && polls.length < 15, String(polls.length));
});

test('native fails when the tail of the backend cannot be had, or ends', async (t) => {
  const native = { rows: [], rules: { mode: 'native' } } as const;
  await t.throwsAsync(follow(native, settledMs), { message: 'no tail' });
  const ending = new QuietTail([], () => Promise.resolve());
  await t.throwsAsync(follow({ ...native, upstream: ending }, settledMs), {
    message: 'the backend ended its tail; reopen the tail, or set -tail.mode=synthetic',
  });
  const breaking = new QuietTail([], () => Promise.reject(new Error('reset')));
  await t.throwsAsync(follow({ ...native, upstream: breaking }, settledMs), {
    message: 'the backend ended its tail; reopen the tail, or set -tail.mode=synthetic',
  });
});
