import test from 'ava';
import fc from 'fast-check';

import { decodeSnappy } from '../../../../plugins/embedded-backend/ingest/snappy.js';

test('literals and back references of all three sizes are decoded, runs that overlap themselves included', (t) => {
  const literal = (text: string): number[] => [(text.length - 1) << 2, ...Buffer.from(text)];
  // A copy with a one-byte offset has length 4 to 11; one with two or four bytes has length 1 to 64.
  const copy1 = (offset: number, length: number): number[] => [
    ((offset >> 8) << 5) | ((length - 4) << 2) | 1,
    offset & 255,
  ];
  const copy2 = (offset: number, length: number): number[] => [
    ((length - 1) << 2) | 2,
    offset & 255,
    offset >> 8,
  ];
  const copy4 = (offset: number, length: number): number[] => [
    ((length - 1) << 2) | 3,
    offset & 255,
    offset >> 8,
    0,
    0,
  ];
  const block = [...literal('ab'), ...copy1(2, 6), ...copy2(1, 3), ...literal('-'), ...copy4(12, 12)];
  t.is(
    decodeSnappy(Buffer.from([24, ...block])).toString(),
    'abababab' + 'bbb' + '-' + 'abababab' + 'bbb' + '-',
  );
});

test('long literals carry their length in bytes of its own', (t) => {
  const text = 'x'.repeat(70_000);
  const header = [0xf0, 0xa2, 0x04];
  const length = text.length - 1;
  const tag = [62 << 2, length & 255, (length >> 8) & 255, length >> 16];
  t.is(decodeSnappy(Buffer.concat([Buffer.from([...header, ...tag]), Buffer.from(text)])).toString(), text);
});

test('malformed input is refused and never read past its end', (t) => {
  for (const bytes of [
    [],
    [5],
    [0x80],
    [4, 0x01, 0x01],
    [4, 12, 1, 2],
    [1, 0, 1, 0, 1],
    [255, 255, 255, 255, 127],
  ]) {
    t.throws(() => decodeSnappy(Buffer.from(bytes)), undefined, JSON.stringify(bytes));
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      let length = -1;
      try {
        length = decodeSnappy(Buffer.from([bytes.length, ...bytes])).length;
      } catch (error) {
        t.true(error instanceof Error && error.message.includes('snappy'));
        return;
      }
      t.is(length, bytes.length);
    }),
  );
});
