import test from 'ava';
import { MemoryAccount } from '../../../../core/base/memory/account.js';
import { everything } from '../../../../core/victoria/logsql/build.js';
import { printQuery } from '../../../../core/victoria/logsql/print.js';
import { queryOfBoth, readBoth } from '../../../../core/victoria/upstream/answer-rows.js';
import type { BackendRow } from '../../../../core/victoria/upstream/types.js';

async function* batches(...all: readonly (readonly object[])[]): AsyncGenerator<readonly BackendRow[]> {
  for (const batch of all) yield await Promise.resolve(batch as readonly BackendRow[]);
}

test('streams and names of fields come in one answer, which is charged as a listing', async (t) => {
  t.is(
    printQuery(queryOfBoth(everything)),
    '* | stats by (_stream) count(*) as "hits" | union (* | field_names as name)',
  );
  const memory = new MemoryAccount(1 << 20);
  const found = await readBoth(
    batches([{ _stream: '{a="b"}', hits: '5' }, { hits: '1' }], [{ name: '{a="b"}', hits: '6' }]),
    memory,
  );
  t.deepEqual(found, {
    streams: [
      { value: '{a="b"}', hits: 5 },
      { value: '{}', hits: 1 },
    ],
    names: [{ value: '{a="b"}', hits: 6 }],
  });
  t.true((memory.held.get('a listing of the backend') ?? 0) > 0);
  const small = new MemoryAccount(100);
  await t.throwsAsync(readBoth(batches([{ _stream: 'x'.repeat(100), hits: '5' }]), small), {
    message: /listing/,
  });
});
