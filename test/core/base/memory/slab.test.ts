import test from 'ava';
import { zeroBytes, zeroNumbers } from '../../../../core/base/memory/slab.js';

test.serial('arrays of zeros do not overlap, whatever their sizes', (t) => {
  const counts = Array.from({ length: 4_000 }, (_none, index) => (index * 7) % 301);
  const numbers = counts.map((count) => zeroNumbers(count));
  const bytes = counts.map((count) => zeroBytes(count));
  for (const [index, count] of counts.entries()) {
    t.deepEqual(numbers[index], new Float64Array(count));
    t.deepEqual(bytes[index], new Uint8Array(count));
    numbers[index]?.fill(index + 0.5);
    bytes[index]?.fill(index % 256);
  }
  for (const [index, count] of counts.entries()) {
    t.deepEqual(numbers[index], new Float64Array(count).fill(index + 0.5));
    t.deepEqual(bytes[index], new Uint8Array(count).fill(index % 256));
  }
});

test.serial('small arrays share a buffer, a large one has its own', (t) => {
  const buffers = new Set(Array.from({ length: 1_000 }, () => zeroNumbers(100).buffer));
  t.true(buffers.size < 10, `${buffers.size} buffers`);
  const large = zeroNumbers(100_000);
  t.is(large.buffer.byteLength, large.byteLength);
});
