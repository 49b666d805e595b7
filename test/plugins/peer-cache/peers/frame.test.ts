import { deflateSync, inflateSync } from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import { FakeClock } from '../../../../core/testing/index.js';
import { PeerBreaker } from '../../../../plugins/peer-cache/peers/peer.js';
import { Encodings } from '../../../../core/base/encoding.js';
import { framed, unframed } from '../../../../plugins/peer-cache/peers/frame.js';

const hit = fc.record({
  packed: fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  leftMs: fc.nat(),
  ageMs: fc.nat(),
});
const text = fc.string({ minLength: 1 });

test.serial('what is framed comes out as it was, under its key and with its token only', async (t) => {
  await fc.assert(
    fc.asyncProperty(hit, text, text, text, async (value, key, token, other) => {
      const frame = await framed(key, value, token);
      t.deepEqual(await unframed(key, frame, token), value);
      if (other !== key) t.is(await unframed(other, frame, token), 'forged');
      // HMAC pads short keys with zeros.
      if (other.replace(/\0+$/, '') !== token.replace(/\0+$/, ''))
        t.is(await unframed(key, frame, other), 'forged');
    }),
    { endOnFailure: true },
  );
});

test.serial('a frame of which any byte is changed, or that is cut, is no value', async (t) => {
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

test.serial('a large value is hashed in steps', async (t) => {
  const packed = Buffer.alloc(20 * 1024 * 1024, 'x');
  const frame = await framed('key', { packed, leftMs: 1, ageMs: 0 }, 'token');
  const value = await unframed('key', frame, 'token');
  t.true(typeof value !== 'string' && value.packed.equals(packed));
});

/** As Node 22.15 and newer have it, with another algorithm. */
const withZstd = {
  zstdCompress: (bytes: Buffer, _: object, done: (error: null, result: Buffer) => void) =>
    done(null, deflateSync(bytes)),
  zstdDecompress: (
    bytes: Buffer,
    options: { maxOutputLength: number },
    done: (error: unknown, result?: Buffer) => void,
  ) => {
    try {
      done(null, inflateSync(bytes, options));
    } catch (error) {
      done(error);
    }
  },
};

test.serial('zstd goes before gzip where Node has it and the other side takes it', async (t) => {
  const [old, modern] = [new Encodings({}), new Encodings(withZstd)];
  t.deepEqual(
    [old.names, old.preferred, modern.names, modern.preferred],
    ['gzip', 'gzip', 'zstd, gzip', 'zstd'],
  );
  t.is(modern.bestOf('gzip, zstd;q=0.5'), 'zstd');
  t.is(modern.bestOf('gzip, zstd;q=0'), 'gzip');
  t.is(modern.bestOf('gzip'), 'gzip');
  t.is(modern.bestOf('br, identity'), undefined);
  t.is(modern.bestOf(''), undefined);
  t.is(old.bestOf('zstd, gzip'), 'gzip');
  t.is(old.bestOf('zstd'), undefined);
  const bytes = Buffer.alloc(5_000, 'text ');
  for (const [encodings, name] of [
    [old, 'gzip'],
    [modern, 'gzip'],
    [modern, 'zstd'],
  ] as const) {
    const small = await encodings.compress(name, bytes);
    t.true(small.byteLength < 200);
    t.true((await encodings.decompress(name, small, 5_000)).equals(bytes));
    await t.throwsAsync(encodings.decompress(name, small, 4_999));
    await t.throwsAsync(encodings.decompress(name, bytes, 10_000));
  }
  await t.throwsAsync(old.decompress('zstd', bytes, 10_000), { message: /not known/ });
  t.true((await old.decompress(undefined, bytes, 10)).equals(bytes));
});

test.serial('five failures in a row keep a peer from being asked until ten seconds after the last', (t) => {
  const clock = new FakeClock();
  const breaker = new PeerBreaker(clock);
  for (let failure = 0; failure < 4; failure += 1) breaker.failed();
  breaker.succeeded();
  for (let failure = 0; failure < 4; failure += 1) breaker.failed();
  t.false(breaker.isOpen);
  breaker.failed();
  t.true(breaker.isOpen);
  clock.advance(9_000);
  // A call that was on its way.
  breaker.failed();
  clock.advance(9_999);
  t.true(breaker.isOpen);
  clock.advance(1);
  t.false(breaker.isOpen);
  for (let failure = 0; failure < 4; failure += 1) breaker.failed();
  t.false(breaker.isOpen);
});
