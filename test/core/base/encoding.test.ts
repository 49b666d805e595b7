import { deflateSync, inflateSync } from 'node:zlib';
import test from 'ava';
import { Encodings } from '../../../core/base/encoding.js';

/** The zstd functions of Node 22.15 and later, with deflate instead of zstd. */
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

test('zstd goes before gzip where Node has it and the other side takes it', async (t) => {
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
  await t.throwsAsync(old.decompress('zstd', bytes, 10_000), { message: /unknown content encoding/ });
  t.true((await old.decompress(undefined, bytes, 10)).equals(bytes));
});
