import { fileURLToPath } from 'node:url';
import test from 'ava';
import { keyOf, makeIndex, openFile, pathFor } from './made.js';
import { written } from './written.js';
import { writeAndKill } from '../../base/files/write-and-kill.js';

const writer = fileURLToPath(new URL('snapshot-writer.js', import.meta.url));
/** Number of kills; set `KILLS=100` for a longer run. */
const kills = Number(process.env['KILLS'] ?? 5);

test.serial('a process that is killed while it writes a snapshot leaves a whole one', async (t) => {
  const path = await pathFor(t);
  for (let kill = 0; kill < kills; kill += 1) {
    const told = await writeAndKill(writer, [path], (kill * 7) % 23);
    const made = makeIndex();
    const { host, file } = await openFile(made, path);
    t.deepEqual(
      host.records.map(({ body }) => body),
      ['label values index restored from its snapshot'],
      'the file is in order',
    );
    const page = await made.index.browse(keyOf('pod'), {}, new AbortController().signal);
    t.deepEqual(page?.values, written);
    const seen = new Set(page?.heat.map((heat) => heat.seen));
    t.is(seen.size, 1, 'one state of all values');
    t.true(([...seen][0] ?? 0) >= told, `not older than what was told, ${told}`);
    await file.stop();
  }
});
