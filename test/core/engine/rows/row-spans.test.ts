import test from 'ava';
import { FakeClock } from '../../../../core/testing/index.js';
import { unboundedMemory } from '../../../../core/base/memory/account.js';
import { ByteLru } from '../../../../core/base/memory/byte-lru.js';
import { everything, phrase } from '../../../../core/victoria/logsql/build.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import type { LogsqlFilter } from '../../../../core/victoria/logsql/ast.js';
import { readPages } from '../../../../core/engine/rows/row-pages.js';
import { MemoryUpstream, type MemoryRow } from '../memory-upstream.js';

const base = 1793491200000000000n;
const reader = new RowReader(new Naming(namesOptions()));
const denseRows = 82_000;
const oneInstantRows = 82_000;
const sparseRows = 300;
const lastNs = 10_000_000_000n;

/** Most rows are within one microsecond, more rows than a span may hold have the same time, and a few are far apart. */
function unevenRows(): readonly MemoryRow[] {
  const rows: MemoryRow[] = [];
  const add = (at: bigint): void => {
    rows.push({ ns: base + at, stream: 'a', line: `line ${rows.length}` });
  };
  for (let index = 0; index < denseRows; index += 1) add(5_000_000_000n + BigInt(index % 1000));
  for (let index = 0; index < oneInstantRows; index += 1) add(7_000_000_000n);
  for (let index = 0; index < sparseRows; index += 1) add((BigInt(index) * lastNs) / BigInt(sparseRows));
  return rows;
}

const stored = unevenRows();

for (const direction of ['forward', 'backward'] as const) {
  test(`${direction}, all rows are read in order however uneven they lie, with few calls`, async (t) => {
    const upstream = new MemoryUpstream(stored);
    const lines = new Set<string>();
    let last = direction === 'forward' ? base : base + lastNs;
    let steps = 0;
    const pages = readPages({
      filter: everything,
      range: { startNs: base, endNs: base + lastNs },
      direction,
      firstPageRows: 100,
      upstream,
      reader,
      signal: new AbortController().signal,
      memory: unboundedMemory(),
    });
    let isOrdered = true;
    for await (const rows of pages) {
      steps = Math.max(steps, rows.length);
      for (const { timestampNs, line } of rows) {
        isOrdered &&= direction === 'forward' ? timestampNs >= last : timestampNs <= last;
        last = timestampNs;
        lines.add(line);
      }
    }
    t.true(isOrdered);
    t.is(lines.size, stored.length);
    t.true(steps <= 250);
    t.true(upstream.requests.length < 120, `${upstream.requests.length} calls`);
    // The backend selects rows only for the first pages.
    t.true(
      upstream.requests
        .slice(10)
        .every(({ newest, query }) => newest === undefined && query.pipes.length === 0),
    );
  });
}

test('a filter that few rows passed before is asked about a whole range in one call', async (t) => {
  const upstream = new MemoryUpstream([]);
  // The selection has rows, but none of them passes.
  upstream.countsAs = 1_000_000;
  const densities = new ByteLru<number>({ maxEntries: 100, maxBytes: 10_000, clock: new FakeClock() });
  const callsOf = async (filter: LogsqlFilter, startNs: bigint): Promise<number> => {
    const before = upstream.requests.length;
    const pages = readPages({
      ...{ filter, upstream, reader, densities, direction: 'backward', firstPageRows: 100 },
      range: { startNs, endNs: startNs + lastNs },
      signal: new AbortController().signal,
      memory: unboundedMemory(),
    });
    for await (const rows of pages) t.fail(`${rows.length} rows pass`);
    return upstream.requests.length - before;
  };
  // The span that would contain the first rows if all passed, a span a hundred times as long, and the rest.
  t.is(await callsOf(phrase('_msg', 'needle'), base), 3);
  t.is(await callsOf(phrase('_msg', 'needle'), base - lastNs), 1);
  t.true((await callsOf(phrase('_msg', 'pin'), base)) > 2, 'another filter');
});
