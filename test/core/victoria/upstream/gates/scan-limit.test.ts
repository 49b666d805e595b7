import test from 'ava';
import {
  ScanLimit,
  scanClass,
  type FinishedScan,
} from '../../../../../core/victoria/upstream/gates/scan-limit.js';
import { ScanCosts } from '../../../../../core/victoria/upstream/gates/running-scans.js';

function scan(change: Partial<FinishedScan> = {}): FinishedScan {
  return {
    className: 'c',
    outcome: 'done',
    startedAtMs: 0,
    durationMs: 100,
    rows: 10,
    maxConcurrent: 1,
    ...change,
  };
}

function makeLimit(floor = 1, ceiling = 8): ScanLimit {
  return new ScanLimit({ floor, ceiling, tolerance: 1.5 });
}

test('the limit begins at two, within floor and ceiling', (t) => {
  t.is(makeLimit().current, 2);
  t.is(makeLimit(3).current, 3);
  t.is(makeLimit(1, 1).current, 1);
});

test('scans that use the whole limit and stay quick raise it, up to the ceiling', (t) => {
  const limit = makeLimit(1, 4);
  limit.finish(scan({ maxConcurrent: 1 }), 0);
  t.is(limit.current, 2);
  for (let index = 0; index < 4; index += 1)
    limit.finish(scan({ maxConcurrent: 2, startedAtMs: index }), index);
  t.is(limit.current, 3);
  for (let index = 0; index < 60; index += 1)
    limit.finish(scan({ maxConcurrent: 4, startedAtMs: index }), index);
  t.is(limit.current, 4);
});

test('scans that are slower than alone lower it once a wave', (t) => {
  const limit = makeLimit(1, 8);
  limit.finish(scan(), 0);
  for (let index = 0; index < 20; index += 1) limit.finish(scan({ maxConcurrent: 8, startedAtMs: 1 }), 1);
  const before = limit.current;
  limit.finish(scan({ maxConcurrent: 8, durationMs: 1000, startedAtMs: 10 }), 20);
  limit.finish(scan({ maxConcurrent: 8, durationMs: 1000, startedAtMs: 15 }), 21);
  t.is(limit.current, Math.floor((before + 0.99) * 0.8));
});

test('a larger listing is no slower scan', (t) => {
  const limit = makeLimit();
  limit.finish(scan({ durationMs: 100, rows: 10 }), 0);
  limit.finish(scan({ durationMs: 1000, rows: 100, maxConcurrent: 2, startedAtMs: 5 }), 6);
  t.is(limit.current, 2);
});

test('failures halve it, down to the floor, and what a client ends says nothing', (t) => {
  const limit = makeLimit();
  limit.finish(scan({ outcome: 'ended' }), 0);
  t.is(limit.current, 2);
  limit.finish(scan({ outcome: 'failed' }), 0);
  t.is(limit.current, 1);
  limit.finish(scan({ outcome: 'failed' }), 0);
  t.is(limit.current, 1);
});

test('what the backend turns away halves the limit, waits there lower it once in five seconds', (t) => {
  const limit = makeLimit(1, 8);
  for (let index = 0; index < 200; index += 1) limit.finish(scan({ maxConcurrent: 8 }), 0);
  t.is(limit.current, 8);
  limit.reached(1_000);
  limit.reached(2_000);
  t.is(limit.current, 6);
  limit.reached(6_000);
  t.is(limit.current, 5);
  limit.timedOut(6_000);
  t.is(limit.current, 2);
});

test('scans are compared with others of about the same length', (t) => {
  const hour = 3_600_000;
  t.is(scanClass('streams', 7 * hour, 'a'), scanClass('streams', 24 * hour, 'a'));
  t.not(scanClass('streams', 25 * hour, 'a'), scanClass('streams', 24 * hour, 'a'));
  t.not(scanClass('streams', hour, 'a'), scanClass('streams', hour, 'b'));
  t.not(scanClass('streams', hour, 'a'), scanClass('field_names', hour, 'a'));
});

test('what a scan costs is trusted for an hour, and never taken for nothing', (t) => {
  let now = 0;
  const memory = new ScanCosts(() => now);
  t.is(memory.bytesOf('c', 1000), 100);
  t.is(memory.of('c'), undefined);
  memory.measured('c', 50, 7);
  now = 1;
  memory.measured('c', 20, 8);
  now = 2;
  t.is(memory.bytesOf('c', 1000), 50);
  memory.measured('none', 0, 0);
  t.is(memory.bytesOf('none', 2560), 10);
  now = 3_600_000;
  memory.took('c', 9);
  t.deepEqual(memory.of('c'), { bytes: 50, durationMs: 9 });
  now = 3_600_001;
  t.is(memory.of('c'), undefined);
  t.is(memory.bytesOf('c', 1000), 100);
});
