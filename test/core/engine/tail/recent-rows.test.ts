import test from 'ava';
import fc from 'fast-check';
import { RecentRows } from '../../../../core/engine/tail/recent-rows.js';
import { rowOf } from './rows.js';

test('a row is new once, whatever its line, stream and instant', (t) => {
  const recent = new RecentRows(100, 0n);
  const rows = [rowOf(1n, 'x'), rowOf(1n, 'y'), rowOf(2n, 'x'), rowOf(1n, 'x', 'b')];
  for (const row of rows) t.true(recent.add(row));
  for (const row of rows) t.false(recent.add(row));
  t.is(recent.size, 4);
});

test('what lies before the floor counts as seen', (t) => {
  const recent = new RecentRows(100, 10n);
  t.false(recent.add(rowOf(9n, 'x')));
  t.true(recent.add(rowOf(10n, 'x')));
  recent.forgetBefore(11n);
  t.is(recent.size, 0);
  t.false(recent.add(rowOf(10n, 'x')));
  recent.forgetBefore(5n);
  t.is(recent.floorNs, 11n);
});

test('it stays within its bound, and never takes a row twice', (t) => {
  const row = fc.record({ ns: fc.bigInt(0n, 60n), line: fc.constantFrom('a', 'b', 'c') });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 400 }), fc.integer({ min: 4, max: 40 }), (rows, max) => {
      const recent = new RecentRows(max, 0n);
      const taken = new Set<string>();
      for (const { ns, line } of rows) {
        const isNew = recent.add(rowOf(ns, line));
        if (isNew && taken.has(`${ns} ${line}`)) return false;
        if (isNew) taken.add(`${ns} ${line}`);
        if (recent.size > max) return false;
      }
      return true;
    }),
  );
  t.pass();
});

test('rows in the order of their time are all new, however small the bound', (t) => {
  const recent = new RecentRows(10, 0n);
  for (let ns = 0n; ns < 1000n; ns += 1n) t.true(recent.add(rowOf(ns, 'line')));
  t.true(recent.floorNs > 900n);
});
