import { once } from 'node:events';
import test from 'ava';
import { ApiError } from '../../../../../core/base/errors/api-error.js';
import { GaugesReader, parseGauges } from '../../../../../core/victoria/upstream/gates/gauges.js';
import { OwnCalls, type OwnCallsView } from '../../../../../core/victoria/upstream/gate.js';
import { ScanGate, type ScanPass } from '../../../../../core/victoria/upstream/gates/scan-gate.js';
import { WaitBudget } from '../../../../../core/base/time/waits.js';

const { signal } = new AbortController();

interface Told {
  selects: number;
  capacity: number;
  used: number;
}

function metricsText({ selects, capacity, used }: Told): string {
  return [
    '# a comment',
    `vl_concurrent_select_current ${selects}`,
    `vl_concurrent_select_capacity ${capacity}`,
    'vl_concurrent_select_limit_reached_total 0',
    'vl_concurrent_select_limit_timeout_total 0',
    `process_resident_memory_anon_bytes ${used + 300}`,
    'go_memstats_heap_idle_bytes 500',
    'go_memstats_heap_released_bytes 200',
    'vm_available_memory_bytes 1000000',
    'vl_rows_ingested_total{type="jsonline"} 7',
  ].join('\n');
}

function makeGate(
  told: Told | undefined,
  change: {
    readonly ceiling?: number;
    readonly headroom?: number;
    readonly own?: OwnCallsView;
    /** Milliseconds by which the clock advances each time it is read. */
    readonly stepMs?: number;
  } = {},
) {
  const clock = { now: 1_000_000 };
  const seen = { limit: 0, running: 0, waiting: 0, refused: [] as string[], readings: 0 };
  const nowMs = (): number => (clock.now += change.stepMs ?? 101);
  const read = (): Promise<string> => {
    seen.readings += 1;
    return told === undefined ? Promise.reject(new Error('no metrics')) : Promise.resolve(metricsText(told));
  };
  const gauges = new GaugesReader(read, nowMs);
  const gate = new ScanGate({
    floor: 1,
    ceiling: change.ceiling ?? 8,
    tolerance: 1.5,
    headroom: change.headroom ?? 0.4,
    queueWaitMs: 20_000,
    gauges,
    ...(change.own === undefined ? {} : { own: change.own }),
    nowMs,
    random: () => 0,
    onChange: (limit, running, waiting) => Object.assign(seen, { limit, running, waiting }),
    onRefused: (reason) => seen.refused.push(reason),
  });
  const enter = (name: string, waitMs = 60_000, by = signal, isBackground = false): Promise<ScanPass> =>
    gate.enter(name, ['owner'], new WaitBudget(waitMs, () => performance.now()), by, isBackground);
  return { enter, seen, clock };
}

test('the gauges are read from the text of /metrics, without memory that is only kept', (t) => {
  t.deepEqual(parseGauges(metricsText({ selects: 3, capacity: 16, used: 5000 })), {
    selects: 3,
    capacity: 16,
    limitReached: 0,
    limitTimeouts: 0,
    memoryUsed: 5000,
    memoryAvailable: 1_000_000,
    isSelector: false,
  });
  t.deepEqual(
    Object.values(parseGauges('')).filter((value) => value !== undefined),
    [false],
  );
});

test('a backend that falls silent is told from one that never spoke, and forgotten in time', async (t) => {
  let now = 0;
  let isUp = false;
  const reader = new GaugesReader(
    () => (isUp ? Promise.resolve('vl_concurrent_select_current 1') : Promise.reject(new Error('down'))),
    () => now,
  );
  t.is((await reader.fresh(0)).kind, 'unknown');
  isUp = true;
  t.is((await reader.fresh(0)).kind, 'known');
  isUp = false;
  now = 5_000;
  t.is((await reader.fresh(0)).kind, 'silent');
  now = 10_000;
  t.is((await reader.fresh(0)).kind, 'unknown');
});

test('without gauges two scans run, and the third waits for a permit', async (t) => {
  const { enter, seen } = makeGate(undefined);
  const [first, second] = [await enter('a'), await enter('b')];
  const third = enter('c');
  await new Promise((resolve) => setImmediate(resolve));
  t.like(seen, { limit: 2, running: 2, waiting: 1 });
  first.leave('ended', 0);
  first.leave('ended', 0);
  (await third).leave('ended', 0);
  second.leave('ended', 0);
  t.like(seen, { running: 0, waiting: 0 });
});

test('who waits too long is told what closed the gate', async (t) => {
  const { enter, seen } = makeGate({ selects: 16, capacity: 16, used: 200_000 });
  const error = await t.throwsAsync(enter('a', 1), { instanceOf: ApiError });
  t.is(error.status, 429);
  t.is(
    error.message,
    'too many outstanding requests: long-range VictoriaLogs metadata scans are limited to at most ' +
      '-backend-max-concurrent-metadata-scans=8 per replica (adaptive limit 2, floor -backend-min-concurrent-metadata-scans=1, ' +
      "VictoriaLogs running 16 of 16 selects, VictoriaLogs memory 20% used with 0% reserved by this replica's scans against " +
      '-backend-metadata-scan-memory-headroom=0.40) and this query waited -backend-heavy-query-queue-wait=20s; ' +
      'retry later, narrow the time range, or raise these limits',
  );
  t.deepEqual(seen.refused, ['busy']);
});

test('a scan that nobody has measured runs alone; measured ones run beside each other', async (t) => {
  const { enter, seen } = makeGate({ selects: 0, capacity: 16, used: 100_000 });
  for (const name of ['a', 'b']) (await enter(name)).leave('done', 10);
  const unmeasured = await enter('new');
  const other = enter('a');
  const another = enter('other new', 5);
  await t.throwsAsync(another, { instanceOf: ApiError });
  (await other).leave('ended', 0);
  unmeasured.leave('done', 10);
  const both = [await enter('a'), await enter('b')];
  t.is(seen.running, 2);
  for (const pass of both) pass.leave('ended', 0);
});

test('scans that take hardly any time do not read the gauges each time, and none is refused for what they were', async (t) => {
  const told = { selects: 0, capacity: 16, used: 100_000 };
  const { enter, seen, clock } = makeGate(told, { stepMs: 1 });
  const scan = async (ms: number): Promise<number> => {
    const before = seen.readings;
    const pass = await enter('a');
    clock.now += ms;
    pass.leave('done', 10);
    clock.now += 1_000;
    return seen.readings - before;
  };
  t.is(await scan(5), 1);
  t.deepEqual([await scan(5), await scan(5), await scan(5)], [0, 0, 0]);
  told.selects = 16;
  clock.now += 5_000;
  await t.throwsAsync(enter('a', 1), { instanceOf: ApiError });
  told.selects = 0;
  clock.now += 200;
  t.is(await scan(500), 1);
  t.deepEqual([await scan(500), await scan(5), await scan(5)], [1, 1, 0]);
});

test('memory that has grown since the gauges were read is not what a scan needs', async (t) => {
  const told = { selects: 0, capacity: 16, used: 100_000 };
  const { enter, clock } = makeGate(told, { stepMs: 1 });
  for (const name of ['a', 'b']) (await enter(name)).leave('done', 10);
  clock.now += 2_000;
  const quick = await enter('a');
  told.used = 450_000;
  clock.now += 4_000;
  // This call reads the gauges.
  (await enter('b')).leave('done', 10);
  quick.leave('done', 10);
  (await enter('a', 5)).leave('done', 10);
  t.pass();
});

test('no scan begins where memory is short', async (t) => {
  const { enter } = makeGate({ selects: 0, capacity: 16, used: 550_000 });
  await t.throwsAsync(enter('a', 5), { message: /memory 55% used/ });
});

test('a scan is stopped when the memory of the backend goes far into the headroom', async (t) => {
  const told = { selects: 0, capacity: 16, used: 100_000 };
  const { enter, seen, clock } = makeGate(told);
  const pass = await enter('a');
  told.used = 740_000;
  clock.now += 1_000;
  // The gate's own timer does not keep the process alive, so the test needs one.
  const alive = setInterval(() => undefined, 1_000);
  await once(pass.signal, 'abort');
  clearInterval(alive);
  const reason: unknown = pass.signal.reason;
  if (!(reason instanceof ApiError)) return t.fail();
  t.is(reason.status, 429);
  t.regex(reason.message, /the scan was stopped to keep VictoriaLogs' memory inside the headroom$/);
  t.deepEqual(seen.refused, ['stopped']);
  pass.leave('failed', 0);
  // The proxy ended the scan itself, so it does not count as a failure.
  t.is(seen.limit, 2);
});

test('who goes away is let go, and a ceiling of none lets all in', async (t) => {
  const { enter } = makeGate({ selects: 16, capacity: 16, used: 0 });
  const controller = new AbortController();
  const waited = enter('a', 60_000, controller.signal);
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort(new Error('gone'));
  await t.throwsAsync(waited, { message: 'gone' });
  const open = makeGate({ selects: 16, capacity: 16, used: 0 }, { ceiling: 0 });
  await t.notThrowsAsync(Promise.all(Array.from({ length: 20 }, () => open.enter('a'))));
});

test('a scan that nobody waits for leaves a permit, and does not wait for one', async (t) => {
  const { enter, seen } = makeGate({ selects: 0, capacity: 16, used: 5000 }, { ceiling: 2 });
  const background = (): Promise<ScanPass> => enter('labels', 60_000, signal, true);
  // The limit starts below its ceiling and rises with scans of other requests.
  while (seen.limit < 2) (await enter('labels')).leave('done', 1);
  const first = await background();
  await t.throwsAsync(background(), { instanceOf: ApiError });
  t.deepEqual([seen.running, seen.waiting, seen.refused.length], [1, 0, 1]);
  first.leave('done', 1);
  const other = await enter('labels');
  await t.throwsAsync(background(), { instanceOf: ApiError });
  other.leave('done', 1);
});

test('a backend that is only busy with calls of this process is not busy', async (t) => {
  const full = { selects: 4, capacity: 4, used: 1000 };
  // All of these calls belong to this process, and most have ended since the gauges were measured.
  const { enter } = makeGate(full, { own: { running: 1, latePeak: 4 } });
  (await enter('labels')).leave('done', 1);
  const ofOthers = makeGate(full, { own: { running: 1, latePeak: 1 } });
  await t.throwsAsync(async () => ofOthers.enter('labels', 20), { message: /running 4 of 4 selects/ });
  const stillRunning = makeGate(full, { own: { running: 4, latePeak: 4 } });
  await t.throwsAsync(async () => stillRunning.enter('labels', 20), { message: /running 4 of 4 selects/ });
});

test('the most calls at once are known for a while', (t) => {
  let now = 0;
  const own = new OwnCalls(() => now);
  own.set(5);
  own.set(1);
  now = 1_400;
  t.is(own.latePeak, 5);
  now = 1_600;
  own.set(2);
  t.is(own.latePeak, 5);
  now = 3_200;
  t.is(own.latePeak, 2);
  own.set(0);
  now = 10_000;
  t.is(own.latePeak, 0);
});
