import test from 'ava';
import { WaitBudget } from '../../../../../core/base/time/waits.js';
import { apiError } from '../../../../../core/base/errors/table.js';
import { everything, query, sortByTime } from '../../../../../core/victoria/logsql/build.js';
import {
  type CallPass,
  ExchangeGates,
  type GatesOptions,
  isHeavyRows,
  isHeavyStatsRange,
  WaitedCalls,
} from '../../../../../core/victoria/upstream/gates/gates.js';
import { CallGate } from '../../../../../core/victoria/upstream/gate.js';
import { GaugesReader } from '../../../../../core/victoria/upstream/gates/gauges.js';
import { heavyGate, pacedSlots } from '../../../../../core/victoria/upstream/gates/call-gates.js';
import { ScanGate } from '../../../../../core/victoria/upstream/gates/scan-gate.js';

const hourNs = 3_600_000_000_000n;
const sixHoursMs = 6 * 3_600_000;
const rangeOf = (hours: bigint, startNs = 0n) => ({ startNs, endNs: startNs + hours * hourNs });
const all = query(everything);
const nowMs = (): number => performance.now();
const untilNextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function makeGates(isDrilldown = false, permits = 4) {
  const seen = { heavy: 0, scans: 0, statistics: 0 };
  const options: GatesOptions = {
    heavy: heavyGate({
      limit: 2,
      queueWaitMs: 1,
      nowMs,
      onRefused: () => undefined,
      onChange: (running) => (seen.heavy = running),
    }),
    scans: new ScanGate({
      floor: 1,
      ceiling: 8,
      tolerance: 1.5,
      headroom: 0.4,
      queueWaitMs: 1,
      gauges: new GaugesReader(() => Promise.reject(new Error('no metrics')), nowMs),
      nowMs,
      random: () => 0,
      onRefused: () => undefined,
      onChange: (_limit, running) => (seen.scans = running),
    }),
    statistics: new CallGate({
      limit: permits,
      waitMs: 60_000,
      nowMs,
      maxWaiting: 3,
      full: (limit, waiting) => apiError('statisticsQueueFull', { limit, waiting }),
      onChange: (running) => (seen.statistics = running),
    }),
    paced: pacedSlots({ permits: 1, pauseMs: 0, onChange: () => undefined }),
    waited: new WaitedCalls(),
    minRangeMs: sixHoursMs,
    queueWaitMs: 1,
    nowMs,
  };
  const { signal } = new AbortController();
  const budget = new WaitBudget(1, nowMs);
  const owner = { owner: ['a'], isDrilldown, signal, budget };
  return { gates: new ExchangeGates(options, owner), options, owner, seen };
}

/** True if a call passes its gates within 100 ms. */
async function hasBegunSoon(call: Promise<CallPass>): Promise<boolean> {
  let hasBegun = false;
  void call.then(() => {
    hasBegun = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  return hasBegun;
}

function yieldingAndOthers(waited: WaitedCalls, signal: AbortSignal): [ExchangeGates, ExchangeGates] {
  const { options, owner } = makeGates();
  return [
    new ExchangeGates({ ...options, waited }, { ...owner, yields: true, signal }),
    new ExchangeGates({ ...options, waited }, owner),
  ];
}

test('a background call waits until the calls of clients have ended', async (t) => {
  const [yielding, others] = yieldingAndOthers(new WaitedCalls(), new AbortController().signal);
  const short = { query: all, range: rangeOf(1n) };
  const other = await others.stats(short);
  const begun = yielding.rows(short);
  t.false(await hasBegunSoon(begun));
  other.leave(undefined, 0);
  (await begun).leave(undefined, 0);
});

test('a background call waits for a limited time, and ends when it is cancelled', async (t) => {
  const abort = new AbortController();
  const [yielding, others] = yieldingAndOthers(new WaitedCalls(300), abort.signal);
  const short = { query: all, range: rangeOf(1n) };
  const never = await others.listing({ listing: 'streams', query: all, range: rangeOf(1n) });
  (await yielding.stats(short)).leave(undefined, 0);
  const cancelled = yielding.stats(short);
  abort.abort(new Error('gone'));
  await t.throwsAsync(cancelled, { message: 'gone' });
  never.leave(undefined, 0);
});

test('two calls that yield run at once, so that few are in the way of a client', async (t) => {
  const { options, owner } = makeGates();
  const yielding = new ExchangeGates(options, { ...owner, yields: true });
  const short = { query: all, range: rangeOf(1n) };
  const leaves = [await options.heavy(['b'], owner.budget, owner.signal)];
  leaves.push(await options.heavy(['b'], owner.budget, owner.signal));
  await t.throwsAsync(yielding.rows({ query: all, range: rangeOf(7n) }), { message: /heavy/ });
  for (const leave of leaves) leave();
  // The refused call is not counted.
  const first = await yielding.rows(short);
  await yielding.rows(short);
  const third = yielding.rows(short);
  t.false(await hasBegunSoon(third));
  first.leave(undefined, 0);
  (await third).leave(undefined, 0);
});

test('rows are heavy without a limit over a long range, or with a large one', (t) => {
  t.false(isHeavyRows({ query: all, range: rangeOf(6n) }, sixHoursMs));
  t.true(isHeavyRows({ query: all, range: rangeOf(7n) }, sixHoursMs));
  t.false(isHeavyRows({ query: all, range: rangeOf(7n), lengthNs: 6n * hourNs }, sixHoursMs));
  t.true(isHeavyRows({ query: all, range: rangeOf(9n), lengthNs: 7n * hourNs }, sixHoursMs));
  t.false(isHeavyRows({ query: all, range: rangeOf(700n), newest: 10_000 }, sixHoursMs));
  t.true(isHeavyRows({ query: all, range: rangeOf(1n), newest: 10_001 }, sixHoursMs));
  t.false(isHeavyRows({ query: query(everything, [sortByTime(10)]), range: rangeOf(7n) }, sixHoursMs));
});

test('statistics over time are heavy over a long range, or with many buckets', (t) => {
  const asked = { query: all, shiftNs: 0n };
  t.false(isHeavyStatsRange({ ...asked, range: rangeOf(6n), stepNs: hourNs }, sixHoursMs));
  t.true(isHeavyStatsRange({ ...asked, range: rangeOf(7n), stepNs: hourNs }, sixHoursMs));
  t.true(isHeavyStatsRange({ ...asked, range: rangeOf(1n), stepNs: hourNs / 11_001n }, sixHoursMs));
});

test('calls of short ranges pass, those of long ranges take a permit each until they were read', async (t) => {
  const { gates, seen } = makeGates();
  for (let index = 0; index < 10; index += 1) await gates.rows({ query: all, range: rangeOf(1n) });
  const passes = [
    await gates.stats({ query: all, range: rangeOf(7n) }),
    await gates.statsRange({ query: all, range: rangeOf(7n), stepNs: hourNs, shiftNs: 0n }),
  ];
  t.is(seen.heavy, 2);
  await t.throwsAsync(gates.rows({ query: all, range: rangeOf(7n) }), {
    message: /heavy VictoriaLogs queries/,
  });
  for (const pass of passes) pass.leave(undefined, 0);
  t.is(seen.heavy, 0);
});

test('a permit that is held serves all parts of the range, and no other', async (t) => {
  const { gates, seen } = makeGates();
  const leave = gates.hold(rangeOf(100n));
  t.is(seen.heavy, 0);
  await gates.rows({ query: all, range: rangeOf(100n) });
  await gates.rows({ query: all, range: rangeOf(50n, hourNs) });
  await gates.statsRange({ query: all, range: rangeOf(50n), stepNs: hourNs, shiftNs: 0n });
  t.is(seen.heavy, 1);
  (await gates.rows({ query: all, range: rangeOf(50n, 60n * hourNs) })).leave(undefined, 0);
  t.is(seen.heavy, 1);
  leave();
  leave();
  await untilNextTurn();
  t.is(seen.heavy, 0);
});

test('a permit that is held serves many rows of a short range', async (t) => {
  const { gates, seen } = makeGates();
  const leave = gates.hold(rangeOf(1n));
  const many = { query: all, range: rangeOf(1n), newest: 20_000 };
  const passes = await Promise.all([gates.rows(many), gates.rows(many)]);
  t.is(seen.heavy, 1);
  for (const pass of passes) pass.leave(undefined, 0);
  t.is(seen.heavy, 1);
  leave();
  await untilNextTurn();
  t.is(seen.heavy, 0);
});

test('a permit that is held, or about to be, is shared within its range until all have left', async (t) => {
  const { gates, seen } = makeGates();
  const leaves = [rangeOf(100n), rangeOf(50n, hourNs), rangeOf(100n)].map((range) => gates.hold(range));
  await Promise.all([rangeOf(100n), rangeOf(10n, hourNs)].map((range) => gates.rows({ query: all, range })));
  for (const leave of leaves) {
    t.is(seen.heavy, 1);
    leave();
    leave();
    await untilNextTurn();
  }
  t.is(seen.heavy, 0);
});

test('listings over a long range are scans, short ones are not', async (t) => {
  const { gates, seen } = makeGates();
  await gates.listing({ listing: 'streams', query: all, range: rangeOf(6n) });
  t.is(seen.scans, 0);
  const pass = await gates.listing({ listing: 'streams', query: all, range: rangeOf(7n) });
  t.is(seen.scans, 1);
  pass.leave(undefined, 5);
  t.is(seen.scans, 0);
});

test('as many statistics over time run at once as there are permits, and few wait', async (t) => {
  const asked = { query: all, range: rangeOf(1n), stepNs: hourNs, shiftNs: 0n };
  const { gates, seen } = makeGates(false, 2);
  const running = [await gates.statsRange(asked), await gates.statsRange(asked)];
  const waiting = [1, 2, 3].map(() => gates.statsRange(asked));
  await untilNextTurn();
  t.is(seen.statistics, 2);
  await t.throwsAsync(gates.statsRange(asked), {
    message: /limited to -stats-query-range-concurrency=2 per replica and 3 queries are waiting/,
  });
  for (const pass of running) pass.leave(undefined, 0);
  for (const pass of waiting) (await pass).leave(undefined, 0);
  t.is(seen.statistics, 0);
});

test('statistics over time that get no permit among heavy ones hold none of theirs', async (t) => {
  const heavy = { query: all, range: rangeOf(7n), stepNs: hourNs, shiftNs: 0n };
  const { gates, seen } = makeGates(true, 4);
  const others = [100n, 200n].map((hours) =>
    gates.rows({ query: all, range: rangeOf(hours, 300n * hourNs) }),
  );
  const passes = await Promise.all(others);
  await t.throwsAsync(gates.statsRange(heavy), { message: /heavy VictoriaLogs queries/ });
  t.is(seen.statistics, 0);
  for (const pass of passes) pass.leave(undefined, 0);
  // The only paced permit is free again.
  const pass = await gates.statsRange({ ...heavy, range: rangeOf(1n) });
  t.is(seen.statistics, 1);
  pass.leave(undefined, 0);
});

test('statistics over time of Logs Drilldown share permits of their own', async (t) => {
  const asked = { query: all, range: rangeOf(1n), stepNs: hourNs, shiftNs: 0n };
  const others = makeGates(false).gates;
  await Promise.all([others.statsRange(asked), others.statsRange(asked)]);
  const { gates } = makeGates(true);
  const first = await gates.statsRange(asked);
  let isIn = false;
  const second = gates.statsRange(asked).then((pass) => {
    isIn = true;
    return pass;
  });
  await untilNextTurn();
  t.false(isIn);
  first.leave(undefined, 0);
  (await second).leave(undefined, 0);
  t.true(isIn);
});
