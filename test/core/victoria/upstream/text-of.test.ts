import test from 'ava';
import fc from 'fast-check';
import { readRows } from '../../../../core/victoria/upstream/ndjson.js';
import { textOf } from '../../../../core/victoria/upstream/text-of.js';
import type { BackendRow } from '../../../../core/victoria/upstream/types.js';
import { anyCharacter } from '../../../setup/text.js';

test('bytes are the text that Node makes of them, be they UTF-8, ASCII or neither', (t) => {
  const text = fc.string({ unit: anyCharacter, maxLength: 200 }).map((chars) => Buffer.from(chars));
  const parts = fc.array(
    fc.oneof(
      text,
      fc.uint8Array({ maxLength: 4 }).map((some) => Buffer.from(some)),
    ),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(parts, (bytes) => {
      const all = Buffer.concat(bytes);
      t.is(textOf(all), all.toString('utf8'));
    }),
  );
  const marked = ['\ufeffa\ufeff', '\ufeff', '', '\u0000é', '\u2028', '\uffff', '😀'];
  for (const each of marked) t.is(textOf(Buffer.from(each)), each);
  // A character in more bytes than it needs, half a pair, one cut off, one beyond the last.
  for (const broken of ['c080', 'eda080', 'e282', 'f4908080', 'c3a9ff', '80'])
    t.is(textOf(Buffer.from(broken, 'hex')), Buffer.from(broken, 'hex').toString('utf8'));
});

test('characters of several bytes, and bytes that are none, come out the same wherever chunks are cut', async (t) => {
  const line = Buffer.concat([Buffer.from('{"größe":"naïve 注文 😀'), Buffer.from([0xff, 0xe2, 0x82])]);
  const bytes = Buffer.concat([line, Buffer.from('"}\n{"a":"é"}\n{"a":"b"}\n')]);
  const wanted = [{ größe: 'naïve 注文 😀\ufffd\ufffd' }, { a: 'é' }, { a: 'b' }];
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    async function* chunks(): AsyncGenerator<Buffer> {
      yield await Promise.resolve(bytes.subarray(0, cut));
      yield bytes.subarray(cut);
    }
    const rows: BackendRow[] = [];
    for await (const batch of readRows(chunks(), { maxBytes: 1000, check: () => undefined }))
      rows.push(...batch);
    t.deepEqual(rows, wanted, `cut at ${cut}`);
  }
});
