import test from 'ava';
import { unboundedMemory } from '../../../../core/base/memory/account.js';
import { everything } from '../../../../core/victoria/logsql/build.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { FakeUpstream, type ExpectedCall } from '../../../../core/testing/index.js';
import { MetricCounts } from '../../../../core/engine/metric/cost.js';
import { readEntries, type RowRequest } from '../../../../core/engine/metric/rows.js';

const naming = new Naming(namesOptions());
const second = 1_000_000_000n;
const range = { startNs: 0n, endNs: 128n * second };
const row = { _time: '1970-01-01T00:00:01Z', _stream: '{app="a"}', _msg: 'x' };

async function read(
  change: Partial<RowRequest>,
  calls: readonly ExpectedCall[],
): Promise<{ readonly rows: number; readonly upstream: FakeUpstream }> {
  const upstream = new FakeUpstream(calls);
  const context = {
    upstream,
    reader: new RowReader(naming),
    maxRows: 0,
    counts: new MetricCounts(),
    memory: unboundedMemory(),
    repeatedRows: 'once',
  } as const;
  const request = { filter: everything, selection: everything, columns: undefined, range, ...change };
  let rows = 0;
  for await (const batch of readEntries(request, context)) rows += batch.length;
  upstream.done();
  return { rows, upstream };
}

const counted = (atSeconds: number, rows: number) => ({
  _time: new Date(atSeconds * 1000).toISOString(),
  rows: String(rows),
});
const oneRow: ExpectedCall = { call: 'rows', batches: [[row]] };

test('few rows that cannot repeat are read by one call', async (t) => {
  const { rows } = await read({ repeats: 'nowhere', selectedRows: 250_000 }, [oneRow]);
  t.is(rows, 1);
});

test('many rows are read by several calls, so that none lasts until the deadline of the backend', async (t) => {
  const counts: ExpectedCall = {
    call: 'rows',
    batches: [[counted(0, 200_000), counted(60, 200_000), counted(61, 50_000)]],
  };
  const { rows, upstream } = await read({ repeats: 'nowhere', selectedRows: 450_000 }, [
    counts,
    oneRow,
    oneRow,
  ]);
  t.is(rows, 2);
  const ranges = upstream.requests.slice(1).map((request) => ('range' in request ? request.range : range));
  t.deepEqual(ranges, [
    { startNs: 0n, endNs: second },
    { startNs: 60n * second, endNs: 62n * second },
  ]);
});

test('rows that may repeat are held in smaller parts', async (t) => {
  const counts: ExpectedCall = { call: 'rows', batches: [[counted(0, 40_000), counted(60, 40_000)]] };
  const { rows } = await read({ selectedRows: 80_000 }, [counts, oneRow, oneRow]);
  t.is(rows, 2);
});
