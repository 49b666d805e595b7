import test from 'ava';
import { parseQuery } from '../../../../core/logql/index.js';
import { planLogs } from '../../../../core/engine/plan/logs.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import type { TailContext } from '../../../../core/engine/tail/context.js';
import { followLines } from '../../../../core/engine/tail/follow.js';
import { LineMaker } from '../../../../core/engine/tail/line-maker.js';
import { RecentRows } from '../../../../core/engine/tail/recent-rows.js';
import type { TailMode } from '../../../../core/wire/api/follow-rules.js';
import type { LiveEvent } from '../../../../core/wire/answer/live.js';
import { FakeClock, FakeUpstream, namesOptions, type ExpectedCall } from '../../../../core/testing/index.js';
import { backendRow, reader, rowOf } from './rows.js';
import { noWorkers } from '../../logql/lines-here.js';

interface Setting {
  readonly mode: TailMode;
  readonly tail?: ExpectedCall;
  /** What each look for rows finds, or how it fails. */
  readonly looks?: readonly (readonly (readonly [bigint, string])[] | Error)[];
  readonly delayNs?: bigint;
}

const nowNs = 1_793_491_200_000_000_000n;

/** The first events of a tail that ends after as many; with the upstream and the ranges that were looked at. */
async function follow(
  setting: Setting,
  count: number,
): Promise<{
  readonly events: readonly LiveEvent[];
  readonly upstream: FakeUpstream;
  readonly ends: readonly bigint[];
}> {
  const expr = parseQuery('{app="a"}', { dottedNames: 'reject' });
  if (expr.kind !== 'log') throw new Error('no log query');
  const { plan } = planLogs(expr, new Naming(namesOptions()));
  const controller = new AbortController();
  const upstream = new FakeUpstream(setting.tail === undefined ? [] : [setting.tail]);
  const looks = [...(setting.looks ?? [])];
  const ends: bigint[] = [];
  const delayNs = setting.delayNs ?? 0n;
  const context: TailContext = {
    filter: plan.filter,
    rules: { mode: setting.mode, refreshMs: 1, lookbackMs: 4_000, maxRemembered: 1_000, openTimeoutMs: 50 },
    delayNs,
    upstream,
    readRows: async function* readRows({ endNs }) {
      ends.push(endNs);
      await Promise.resolve();
      const found = looks.shift() ?? [];
      if (found instanceof Error) throw found;
      yield found.map(([ns, line]) => rowOf(nowNs + ns, line));
    },
    reader,
    lines: new LineMaker(plan, true, { workers: noWorkers, signal: controller.signal }),
    recent: new RecentRows(1_000, nowNs - 10_000_000_000n),
    clock: new FakeClock(nowNs),
    signal: controller.signal,
  };
  const events: LiveEvent[] = [];
  try {
    for await (const event of followLines(context, nowNs - delayNs)) {
      events.push(event);
      if (events.length === count) break;
    }
  } finally {
    controller.abort();
  }
  return { events, upstream, ends };
}

function linesOf(events: readonly LiveEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'entries' ? event.entries.map(({ entry }) => entry.line) : [],
  );
}

test('polling shows what overlapping looks find once', async (t) => {
  const looks: Setting['looks'] = [
    [
      [-3n, 'a'],
      [-2n, 'b'],
    ],
    [
      [-3n, 'a'],
      [-2n, 'b'],
      [-1n, 'c'],
    ],
    [
      [-4n, 'late'],
      [-3n, 'a'],
    ],
  ];
  const { events } = await follow({ mode: 'synthetic', looks }, 4);
  t.deepEqual(events[0], { kind: 'source', source: 'synthetic' });
  t.deepEqual(linesOf(events), ['a', 'b', 'c', 'late']);
});

test('a look that fails is told and made up for', async (t) => {
  const looks: Setting['looks'] = [new Error('away'), [[-1n, 'a']]];
  const { events } = await follow({ mode: 'synthetic', looks }, 3);
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['source', 'trouble', 'entries'],
  );
  t.deepEqual(linesOf(events), ['a']);
});

test('a delay holds back the looks and the tail of the backend', async (t) => {
  const delayNs = 3_000_000_000n;
  const polled = await follow({ mode: 'synthetic', looks: [[[-5_000_000_000n, 'a']]], delayNs }, 2);
  t.is(polled.ends[0], nowNs - delayNs + 1n);
  const tail: ExpectedCall = { call: 'tail', batches: [[backendRow(nowNs - 4_000_000_000n, 'a')]] };
  const followed = await follow({ mode: 'native', tail, delayNs }, 2);
  t.like(followed.upstream.requests[0], { offsetNs: delayNs, openTimeoutMs: 50, startOffsetMs: 4_000 });
  t.deepEqual(linesOf(followed.events), ['a']);
});

test('auto goes on by polling when the tail of the backend cannot be had, or ends, and shows nothing twice', async (t) => {
  const refused = await follow({ mode: 'auto', tail: { call: 'tail', error: new Error('no') } }, 1);
  t.like(refused.events[0], { kind: 'source', source: 'synthetic', cause: { message: 'no' } });
  const tail: ExpectedCall = { call: 'tail', batches: [[backendRow(nowNs - 2n, 'a')]] };
  const looks: Setting['looks'] = [
    [
      [-2n, 'a'],
      [-1n, 'b'],
    ],
  ];
  const ended = await follow({ mode: 'auto', tail, looks }, 4);
  t.deepEqual(
    ended.events.map((event) => (event.kind === 'source' ? event.source : event.kind)),
    ['native', 'entries', 'synthetic', 'entries'],
  );
  t.deepEqual(linesOf(ended.events), ['a', 'b']);
});

test('native fails when the tail of the backend cannot be had, or ends', async (t) => {
  const error = new Error('no');
  await t.throwsAsync(follow({ mode: 'native', tail: { call: 'tail', error } }, 9), { is: error });
  const tail: ExpectedCall = { call: 'tail', batches: [] };
  await t.throwsAsync(follow({ mode: 'native', tail }, 9), { message: 'the backend ended its tail' });
});
