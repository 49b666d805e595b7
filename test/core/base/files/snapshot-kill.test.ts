import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { SnapshotFile } from '../../../../core/base/files/snapshot-file.js';
import { makeHost } from '../../../../core/testing/index.js';
import { writeAndKill } from './write-and-kill.js';

const writer = fileURLToPath(new URL('snapshot-writer.js', import.meta.url));
/** Number of kills; set `KILLS=100` for a longer run. */
const kills = Number(process.env['KILLS'] ?? 5);

test.serial(
  'a process that is killed while it writes a snapshot leaves a whole one, none older than it told of',
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'snapshot-kill-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'snapshot.json');
    const format = { version: 1, member: 'entries_by_key', depth: 1 } as const;
    let leftovers = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const told = await writeAndKill(writer, [path], (kill * 7) % 23, 10);
      leftovers += (await readdir(folder)).length - 1;
      const { log, clock, records } = makeHost();
      const file = new SnapshotFile({ flag: '-some-persist-path', path, format, clock, log });
      await file.open();
      const names: string[] = [];
      t.not(await file.read(([name = '']) => names.push(name)), undefined);
      t.true(names.length >= told, `${names.length} of ${told}`);
      t.deepEqual(
        names,
        names.map((_name, number) => `${number} of ${names.length}`),
      );
      t.deepEqual(records, []);
      t.deepEqual(await readdir(folder), ['snapshot.json']);
    }
    t.log(`${leftovers} unfinished files were removed`);
  },
);
