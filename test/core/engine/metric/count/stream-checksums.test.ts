import test from 'ava';
import { doAll } from '../../../../../core/base/pace/steps.js';
import fc from 'fast-check';
import { Naming } from '../../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../../core/testing/options.js';
import { RowReader } from '../../../../../core/victoria/names/row-reader.js';
import { addChecksums, StreamChecksums } from '../../../../../core/engine/metric/count/stream-listing.js';

const reader = new RowReader(new Naming(namesOptions()));
const checksums = new StreamChecksums();
const rows = fc.dictionary(
  fc.constantFrom('{}', '{a="b"}', '{a="c"}', '{b="x"}'),
  fc.integer({ min: 1, max: 1_000_000_000 }),
);

test('the checksums of two segments add up to that of both', (t) => {
  fc.assert(
    fc.property(rows, rows, (a, b) => {
      const both = [...Object.entries(a), ...Object.entries(b)];
      const parts = [a, b].map((one) => doAll(checksums.of(reader, Object.entries(one))));
      t.is(addChecksums(parts), doAll(checksums.of(reader, both)));
    }),
  );
});

test('checksums are equal for the same rows of the same streams in any order, and for nothing else', (t) => {
  fc.assert(
    fc.property(rows, rows, (a, b) => {
      const isSame =
        Object.keys(a).length === Object.keys(b).length &&
        Object.entries(a).every(([text, count]) => b[text] === count);
      const backwards = Object.entries(b).reverse();
      t.is(doAll(checksums.of(reader, Object.entries(a))) === doAll(checksums.of(reader, backwards)), isSame);
    }),
  );
});
