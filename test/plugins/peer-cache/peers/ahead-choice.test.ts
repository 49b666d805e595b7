import test from 'ava';
import fc from 'fast-check';
import { chooseAhead, byWant, type AheadBudget } from '../../../../plugins/peer-cache/peers/ahead-choice.js';
import type { HotEntry } from '../../../../plugins/peer-cache/peers/hot-entries.js';

const entry = fc
  .record({
    tenant: fc.constantFrom('1', '2', '3'),
    name: fc.nat(40),
    score: fc.nat(5),
    size_bytes: fc.nat(100),
    remaining_ttl_ms: fc.nat(100),
  })
  .map(({ tenant, name, ...rest }): HotEntry => ({ tenant, key: `${tenant}:${name}`, ...rest }));
const entries = fc.array(entry, { maxLength: 40 }).map((some) => some.sort(byWant));
const budgets: fc.Arbitrary<AheadBudget> = fc.record({
  maxKeys: fc.integer({ min: 1, max: 20 }),
  maxBytes: fc.integer({ min: 1, max: 800 }),
  maxObjectBytes: fc.integer({ min: 1, max: 100 }),
  minTtlMs: fc.nat(100),
  tenantShare: fc.integer({ min: 1, max: 100 }),
});

const bytesOf = (some: readonly HotEntry[]): number =>
  some.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
const keysOf = (some: readonly HotEntry[]): readonly string[] => some.map(({ key }) => key);

test.serial(
  'what is chosen to be read ahead stays within every budget, and nothing that has room is left out',
  (t) => {
    fc.assert(
      fc.property(entries, budgets, (all, budget) => {
        const { chosen, dropped } = chooseAhead(all, budget);
        const fitting = new Map(
          all
            .filter(
              ({ size_bytes, remaining_ttl_ms }) =>
                size_bytes > 0 && size_bytes <= budget.maxObjectBytes && remaining_ttl_ms >= budget.minTtlMs,
            )
            .reverse()
            .map((one) => [one.key, one]),
        );
        const taken = new Set(keysOf(chosen));
        const roomLeft = chosen.length < budget.maxKeys ? budget.maxBytes - bytesOf(chosen) : 0;
        return (
          chosen.length <= budget.maxKeys &&
          bytesOf(chosen) <= budget.maxBytes &&
          taken.size === chosen.length &&
          chosen.every((one) => fitting.get(one.key) === one) &&
          dropped === fitting.size - chosen.length &&
          [...fitting.values()].every(({ key, size_bytes }) => taken.has(key) || size_bytes > roomLeft)
        );
      }),
      { endOnFailure: true },
    );
    t.pass();
  },
);

test.serial('a tenant gets no more than its share before the others had theirs', (t) => {
  fc.assert(
    fc.property(entries, budgets, (all, budget) => {
      const { chosen } = chooseAhead(all, budget);
      const most = Math.max(1, Math.floor((budget.maxKeys * budget.tenantShare) / 100));
      const mostBytes = Math.floor((budget.maxBytes * budget.tenantShare) / 100);
      const had = new Map<string, { keys: number; bytes: number }>();
      const isOver = chosen.map(({ tenant, size_bytes }) => {
        const { keys, bytes } = had.get(tenant) ?? { keys: 0, bytes: 0 };
        if (keys >= most || bytes + size_bytes > mostBytes) return true;
        had.set(tenant, { keys: keys + 1, bytes: bytes + size_bytes });
        return false;
      });
      // What is over a share comes last.
      return !isOver.includes(true) || !isOver.slice(isOver.indexOf(true)).includes(false);
    }),
    { endOnFailure: true },
  );
  const of = (tenant: string, score: number): HotEntry => ({
    tenant,
    key: `${tenant}:${score}`,
    score,
    size_bytes: 10,
    remaining_ttl_ms: 60_000,
  });
  const all = [of('1', 9), of('1', 8), of('1', 7), of('2', 6), of('1', 5)];
  const budget = { maxKeys: 4, maxBytes: 1000, maxObjectBytes: 100, minTtlMs: 0 };
  const half = chooseAhead(all, { ...budget, tenantShare: 50 });
  t.deepEqual(keysOf(half.chosen), ['1:9', '1:8', '2:6', '1:7']);
  t.deepEqual([half.dropped, half.passedOver], [1, 2]);
  const whole = chooseAhead(all, { ...budget, tenantShare: 100 });
  t.deepEqual(keysOf(whole.chosen), ['1:9', '1:8', '1:7', '2:6']);
  const fewBytes = chooseAhead(all, { ...budget, maxKeys: 9, maxBytes: 40, tenantShare: 25 });
  t.deepEqual(keysOf(fewBytes.chosen), ['1:9', '2:6', '1:8', '1:7']);
});

test.serial('answers with the same score are wanted in the order of the time they have left', (t) => {
  const of = (key: string, score: number, remaining_ttl_ms: number): HotEntry => ({
    tenant: '1',
    key,
    score,
    size_bytes: 1,
    remaining_ttl_ms,
  });
  const all = [of('1:a', 1, 9), of('1:b', 2, 1), of('1:c', 2, 5), of('1:d', 2, 5)];
  t.deepEqual(keysOf([...all].sort(byWant)), ['1:c', '1:d', '1:b', '1:a']);
});
