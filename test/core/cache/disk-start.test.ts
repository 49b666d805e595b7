import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openDiskFile } from '../../../core/cache/disk-file.js';
import { answerOf } from './disk-answers.js';
import { eachEngine } from './disk-engines.js';
import { fileFor, openTier } from './disk.js';

const hour = 3_600_000;

for (const code of ['EROFS', 'ENOSPC', 'SQLITE_READONLY', 'SQLITE_BUSY']) {
  eachEngine(
    `a disk that fails with ${code} at the start turns the tier off, and is tried again`,
    async (t, engine) => {
      let isFailing = true;
      const { tier, told, host } = await openTier({
        engine,
        path: await fileFor(t),
        open: (path, isFresh) =>
          isFailing
            ? Promise.reject(Object.assign(new Error(`${code}: made up`), { code }))
            : openDiskFile(path, isFresh, engine),
      });
      t.false(told.isOn);
      tier.set('not taken', answerOf(1), hour);
      t.is(await tier.get('not taken'), undefined);
      isFailing = false;
      host.clock.advance(60_000);
      await tier.tick();
      tier.set('taken', answerOf(2), hour);
      await tier.flush();
      t.deepEqual((await tier.get('taken'))?.packed, answerOf(2));
      t.true(told.isOn);
      t.deepEqual(
        host.records.map(({ level, body }) => `${level}: ${body}`),
        [
          'error: disk cache failed and is turned off; the proxy retries every minute',
          'info: disk cache works again',
        ],
      );
      await tier.close();
    },
  );
}

eachEngine(
  'a file belongs to one process: another one goes without, and takes it when the first has ended',
  async (t, engine) => {
    const path = await fileFor(t);
    const writer = fileURLToPath(new URL('disk-writer.js', import.meta.url));
    const first = spawn(process.execPath, [writer, path, engine.name], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => first.kill('SIGKILL'));
    await once(first.stdout, 'data');
    const { tier, told, host } = await openTier({ engine, path });
    t.false(told.isOn);
    t.regex(String(host.records[0]?.fields['error']), /another process uses this file/);
    first.kill('SIGKILL');
    await once(first, 'exit');
    host.clock.advance(60_000);
    await tier.tick();
    t.true(told.isOn);
    await tier.close();
  },
);

eachEngine(
  'a file that another program has locked at the start turns the tier off, and is tried again',
  async (t, engine) => {
    const path = await fileFor(t);
    await (await openTier({ engine, path })).tier.close();
    const other = await engine.connect(path);
    await other.execute('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const { tier, told, host } = await openTier({ engine, path });
    t.false(told.isOn);
    await other.close();
    host.clock.advance(60_000);
    await tier.tick();
    t.true(told.isOn);
    await tier.close();
  },
);

eachEngine('a damaged lock file is replaced, and the answers beside it stay', async (t, engine) => {
  const path = await fileFor(t);
  const before = await openTier({ engine, path });
  before.tier.set('kept', answerOf(1), hour);
  await before.tier.close();
  await writeFile(`${path}-lock`, Buffer.alloc(4096, 'no database '));
  const { tier, told } = await openTier({ engine, path });
  t.true(told.isOn);
  t.deepEqual((await tier.get('kept'))?.packed, answerOf(1));
  await tier.close();
});
