import test from 'ava';
import fc from 'fast-check';
import { everything } from '../../../../core/victoria/logsql/build.js';
import { formatTime } from '../../../../core/victoria/logsql/literals.js';
import type { BackendRow, RowsRequest, Upstream } from '../../../../core/victoria/upstream/types.js';
import { planWindows } from '../../../../core/engine/metric/count/time-segments.js';

const base = 1793491200000000000n;

/** A fake backend that counts times by the buckets of the query. */
function counting(times: readonly bigint[]): Upstream {
  const unused = (): never => {
    throw new Error('not asked for');
  };
  return {
    owner: '',
    async *rows({ query, range }: RowsRequest): AsyncGenerator<readonly BackendRow[]> {
      const [pipe] = query.pipes;
      const size = pipe?.kind === 'stats' ? pipe.by[0]?.bucket?.size : undefined;
      const stepNs = BigInt((size ?? '').replace('ns', ''));
      const counts = new Map<bigint, number>();
      for (const at of times) {
        if (at < range.startNs || at >= range.endNs) continue;
        const begin = (at / stepNs) * stepNs;
        counts.set(begin, (counts.get(begin) ?? 0) + 1);
      }
      await Promise.resolve();
      yield [...counts].map(([begin, rows]) => ({ _time: formatTime(begin), rows: String(rows) })).reverse();
    },
    list: unused,
    stats: unused,
    statsRange: unused,
    tail: unused,
    deletion: unused,
  };
}

test('windows hold every row once, and no more rows than told where time can be cut', async (t) => {
  const times = fc.array(
    fc.oneof(
      fc.bigInt(0n, 3_600_000_000_000n),
      fc.bigInt(0n, 50n).map((at) => 1_000_000_000n + at * 1_000_000n),
    ),
    { maxLength: 300 },
  );
  await fc.assert(
    fc.asyncProperty(times, fc.integer({ min: 1, max: 40 }), async (offsets, maxRows) => {
      const stored = offsets.map((at) => base + at);
      const range = { startNs: base, endNs: base + 3_600_000_000_000n };
      const windows = await planWindows(counting(stored), everything, range, maxRows);
      const inside = (at: bigint): number =>
        windows.filter((window) => at >= window.range.startNs && at < window.range.endNs).length;
      t.true(stored.every((at) => inside(at) === (at < range.endNs ? 1 : 0)));
      for (const { range: each, rows } of windows) {
        t.is(stored.filter((at) => at >= each.startNs && at < each.endNs).length, rows);
        t.true(rows <= maxRows || each.endNs - each.startNs <= 1_000_000n);
      }
    }),
  );
});

test('an empty range has no windows', async (t) => {
  t.deepEqual(await planWindows(counting([]), everything, { startNs: base, endNs: base }, 10), []);
});
