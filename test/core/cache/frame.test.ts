import test from 'ava';
import fc from 'fast-check';
import { framed, unframed } from '../../../core/cache/frame.js';

const hit = fc.record({
  packed: fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  leftMs: fc.nat(),
  ageMs: fc.nat(),
});
const text = fc.string({ minLength: 1 });

test('what is framed comes out as it was, under its key and with its token only', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      hit,
      text,
      fc.option(text, { nil: undefined }),
      text,
      async (value, key, token, other) => {
        const frame = await framed(key, value, token);
        t.deepEqual(await unframed(key, frame, token), value);
        if (other !== key) t.is(await unframed(other, frame, token), 'forged');
        // HMAC pads short keys with zeros.
        if (other.replace(/\0+$/, '') !== token?.replace(/\0+$/, ''))
          t.is(await unframed(key, frame, other), 'forged');
      },
    ),
    { endOnFailure: true },
  );
});

test('a frame of which any byte is changed, or that is cut, is no value', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      hit,
      text,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (value, key, place, change) => {
        const frame = await framed(key, value, 'token');
        const changed = Buffer.from(frame);
        const at = place % frame.byteLength;
        changed.writeUInt8((frame[at] ?? 0) ^ change, at);
        t.is(typeof (await unframed(key, changed, 'token')), 'string');
        t.is(typeof (await unframed(key, frame.subarray(0, at), 'token')), 'string');
      },
    ),
    { endOnFailure: true },
  );
});

test('a large value is hashed in steps', async (t) => {
  const packed = Buffer.alloc(20 * 1024 * 1024, 'x');
  const frame = await framed('key', { packed, leftMs: 1, ageMs: 0 }, 'token');
  const value = await unframed('key', frame, 'token');
  t.true(typeof value !== 'string' && value.packed.equals(packed));
});
