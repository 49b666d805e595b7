import test from 'ava';
import fc from 'fast-check';
import { bodyText, readRows, type RowRules } from '../../../../core/victoria/upstream/answer-rows.js';
import type { BackendRow } from '../../../../core/victoria/upstream/types.js';
import { anyCharacter } from '../../../setup/text.js';

const anyRow: RowRules = { maxBytes: 1000, check: () => undefined };

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function rowsOf(text: string, size = 7): Promise<readonly BackendRow[]> {
  const rows: BackendRow[] = [];
  for await (const batch of readRows(chunksOf(Buffer.from(text), size), { ...anyRow, maxBytes: 1e6 }))
    rows.push(...batch);
  return rows;
}

test('rows come out whole wherever the chunks are cut', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }))),
      fc.integer({ min: 1, max: 30 }),
      async (rows, size) => {
        const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
        t.is(JSON.stringify(await rowsOf(text, size)), JSON.stringify(rows));
      },
    ),
  );
});

test('a last line without a line feed counts, blank lines do not', async (t) => {
  t.deepEqual(await rowsOf('{"a":"1"}\n\n{"a":"2"}'), [{ a: '1' }, { a: '2' }]);
  t.deepEqual(await rowsOf(''), []);
});

test('a line that is no object is an error, never data', async (t) => {
  await t.throwsAsync(rowsOf('{"a":"1"}\ncannot read block\n'), {
    message: 'a line that is not a row: cannot read block',
  });
  await t.throwsAsync(rowsOf('{"a":"1"}\n{"a":\n'), { message: 'a row that is not JSON: {"a":' });
});

test('nothing is read ahead of the reader', async (t) => {
  let given = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      given += 1;
      yield await Promise.resolve(Buffer.from('{"a":"1"}\n'));
    }
  }
  for await (const batch of readRows(endless(), anyRow)) {
    t.is(batch.length, 1);
    if (given === 3) break;
  }
  t.is(given, 3);
});

test('a row has a bound, whether its end comes or not, and in however small parts it comes', async (t) => {
  const row = (length: number): string => `{"a":"${'x'.repeat(length - 8)}"}`;
  for (const size of [1, 7, 5000]) {
    const rules = { ...anyRow, maxBytes: 1000 };
    const read = async (text: string): Promise<number> => {
      let count = 0;
      for await (const batch of readRows(chunksOf(Buffer.from(text), size), rules)) count += batch.length;
      return count;
    };
    t.is(await read(`${row(1000)}\n${row(10)}\n${row(1000)}`), 3);
    for (const text of [`${row(1001)}\n`, row(1001), `${row(10)}\n${row(1001)}`])
      await t.throwsAsync(read(text), { message: /larger than 1000 bytes; raise -max-row-bytes/ });
  }
});

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
      t.is(bodyText(all), all.toString('utf8'));
    }),
  );
  const marked = ['\ufeffa\ufeff', '\ufeff', '', '\u0000é', '\u2028', '\uffff', '😀'];
  for (const each of marked) t.is(bodyText(Buffer.from(each)), each);
  // An overlong encoding, half of a surrogate pair, a truncated character, and one beyond the last code point.
  for (const broken of ['c080', 'eda080', 'e282', 'f4908080', 'c3a9ff', '80'])
    t.is(bodyText(Buffer.from(broken, 'hex')), Buffer.from(broken, 'hex').toString('utf8'));
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
