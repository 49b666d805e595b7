import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import { frameHeaderBytes, Frames } from '../../../core/cache/frame.js';
import { answerOf } from './disk-answers.js';

const largest = 8 * 1024 * 1024;
const times = { madeMs: 1_700_000_000_000, freshUntilMs: 1_700_000_060_000 };
const secrets: readonly (string | undefined)[] = [undefined, 'hidden'];

test('what is framed comes back as it was, under its key', async (t) => {
  const answers = [Buffer.alloc(0), Buffer.from('short'), answerOf(1, 40_000), Buffer.alloc(300_000, 'abc')];
  for (const secret of secrets) {
    const frames = new Frames({ secret, largest });
    for (const packed of answers) {
      const frame = await frames.seal('a key, ünicode', { packed, ...times });
      t.true(frame !== undefined && frame.byteLength <= packed.byteLength + frameHeaderBytes);
      t.deepEqual(await frames.open('a key, ünicode', frame ?? Buffer.alloc(0)), { packed, ...times });
      t.is(await frames.open('another key', frame ?? Buffer.alloc(0)), 'damaged');
    }
  }
});

test('a frame in which any bit has flipped, that is cut or longer, is none', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...secrets),
      fc.uint8Array({ maxLength: 4_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 0, max: 9 }),
      async (secret, bytes, place, kind) => {
        const frames = new Frames({ secret, largest });
        const frame = (await frames.seal('key', { packed: Buffer.from(bytes), ...times })) ?? Buffer.alloc(0);
        const at = Math.floor(place * frame.byteLength);
        let bad = Buffer.from(frame);
        if (kind < 8) bad[at] = (bad[at] ?? 0) ^ (1 << kind);
        else bad = kind === 8 ? bad.subarray(0, at) : Buffer.concat([bad, Buffer.from([at % 256])]);
        t.is(typeof (await frames.open('key', bad)), 'string');
      },
    ),
    { endOnFailure: true, numRuns: 300 },
  );
});

test('frames of another secret, of none, and of another version are told apart from good ones', async (t) => {
  const packed = answerOf(2);
  const ours = new Frames({ secret: 'ours', largest });
  for (const secret of ['theirs', undefined]) {
    const frame = await new Frames({ secret, largest }).seal('key', { packed, ...times });
    t.is(await ours.open('key', frame ?? Buffer.alloc(0)), 'damaged');
  }
  const newer = (await ours.seal('key', { packed, ...times })) ?? Buffer.alloc(0);
  newer.write('RPF2');
  t.is(await ours.open('key', newer), 'version');
});

test('an answer that is too large is not framed, and a frame that claims or grows to more is not opened', async (t) => {
  const small = new Frames({ largest: 10_000 });
  const large = new Frames({ largest });
  t.is(await small.seal('key', { packed: answerOf(1, 10_001), ...times }), undefined);
  const frame = await large.seal('key', { packed: Buffer.alloc(10_001), ...times });
  t.true((frame?.byteLength ?? 0) < 1_000);
  t.is(await small.open('key', frame ?? Buffer.alloc(0)), 'large');
  const long = await large.seal('key', { packed: answerOf(1, 20_000), ...times });
  t.is(await small.open('key', long ?? Buffer.alloc(0)), 'large');
});

test('a bomb that is longer than it says is given up', async (t) => {
  const frames = new Frames({ largest });
  const frame =
    (await frames.seal('key', { packed: gzipSync(Buffer.alloc(500_000)), ...times })) ?? Buffer.alloc(0);
  frame.writeUInt8(1, 4);
  for (const length of [100, 500_000, 500_001]) {
    frame.writeUInt32BE(length, 17);
    digestAgain('key', frame);
    const opened = await frames.open('key', frame);
    t.is(
      typeof opened === 'string' ? opened : opened.packed.byteLength,
      length === 500_000 ? length : 'damaged',
    );
  }
});

test('the digest of the largest answer leaves turns to others', async (t) => {
  const frames = new Frames({ largest });
  const order: string[] = [];
  const sealing = frames.seal('key', { packed: answerOf(3, largest), ...times });
  await Promise.all([sealing.then(() => order.push('frame')), turn().then(() => order.push('others'))]);
  t.deepEqual(order, ['others', 'frame']);
  t.is((await sealing)?.byteLength, frames.largestFrame);
});

/** What somebody can do who wants a frame to be believed, where there is no secret. */
function digestAgain(key: string, frame: Buffer): void {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(key));
  createHash('sha256')
    .update(length)
    .update(key)
    .update(frame.subarray(0, 21))
    .update(frame.subarray(frameHeaderBytes))
    .digest()
    .copy(frame, 21);
}
