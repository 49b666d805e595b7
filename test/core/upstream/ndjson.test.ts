import test from 'ava';
import fc from 'fast-check';
import { readRows } from '../../../core/upstream/ndjson.js';
import type { BackendRow } from '../../../core/upstream/types.js';

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function rowsOf(text: string, size = 7): Promise<readonly BackendRow[]> {
  const rows: BackendRow[] = [];
  for await (const batch of readRows(chunksOf(Buffer.from(text), size))) rows.push(...batch);
  return rows;
}

test('rows come out whole wherever the chunks are cut', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))),
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
  await t.throwsAsync(rowsOf('{"a":"1"}\ncannot read block\n'), { message: 'cannot read block' });
  await t.throwsAsync(rowsOf('{"a":"1"}\n{"a":\n'), { message: '{"a":' });
});

test('the backend’s deadline inside an answer is a timeout', async (t) => {
  const text = '{"a":"1"}\nthe request couldn\'t be executed in 30.000 seconds\n';
  await t.throwsAsync(rowsOf(text), { message: /^request timed out/ });
});

test('nothing is read ahead of the reader', async (t) => {
  let given = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      given += 1;
      yield await Promise.resolve(Buffer.from('{"a":"1"}\n'));
    }
  }
  for await (const batch of readRows(endless())) {
    t.is(batch.length, 1);
    if (given === 3) break;
  }
  t.is(given, 3);
});
