import test from 'ava';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { MetricCounts } from '../../../../core/engine/metric/cost.js';

const reader = new RowReader(new Naming(namesOptions()));

test('rows that were read count with their lines', (t) => {
  const counts = new MetricCounts();
  counts.row(reader.read({ _time: '2026-11-21T00:00:00Z', _stream: '{app="a"}', _msg: 'häh' }));
  t.like(counts.stats(5, 2), {
    linesProcessed: 1,
    postFilterLines: 1,
    bytesProcessed: 4,
    entriesReturned: 2,
    execTimeMs: 5,
  });
});

test('rows that the backend counts were found among those of their streams, and no line of them was read', (t) => {
  const counts = new MetricCounts();
  counts.scanned([{ hits: 70 }, { hits: 30 }]);
  counts.counted(12, 0);
  t.like(counts.stats(0, 0), { linesProcessed: 100, postFilterLines: 12, bytesProcessed: 0 });
});
