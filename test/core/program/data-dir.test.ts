import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withDisk } from '../cache/disk-engines.js';
import { main } from './child.js';

/** A user without a name, who cannot write files of other users. */
const nobody = { uid: 54_321, gid: 54_321 };

withDisk(test.serial)(
  'everything that is written goes into the data folder, whoever runs the program',
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
    t.teardown(() => rm(folder, { recursive: true }));
    const backend = await startDevBackend();
    t.teardown(() => backend.close());
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(folder, nobody.uid, nobody.gid);
    const child = spawn(
      process.execPath,
      [
        ...[main, 'serve', '-workers=2', '-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0'],
        ...[`-backend=${backend.url}`, `-data-dir=${folder}`],
        ...['-patterns-persist-path=patterns.json', '-label-values-index-persist-path=labels.json'],
        ...['-label-values-indexed-cache=true', '-disk-cache-path=cache.db'],
      ],
      {
        // The working directory and the temporary directory are not writable.
        cwd: '/proc',
        env: { ...process.env, TMPDIR: '/proc/nowhere', HOME: '/proc/nowhere' },
        stdio: ['ignore', 'pipe', 'pipe'],
        ...(isRoot ? nobody : {}),
      },
    );
    t.teardown(() => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    let err = '';
    child.stderr.on('data', (part: Buffer) => (err += part.toString()));
    const warnings: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.includes('"severity.text":"INFO"')) warnings.push(line);
      if (!line.includes('"body":"serving"')) continue;
      const sockets = (await readdir(folder)).find((name) => name.startsWith('ref-proxy-'));
      t.deepEqual(await readdir(join(folder, sockets ?? '')), ['worker-1', 'worker-2']);
      child.kill('SIGTERM');
    }
    t.deepEqual(await exited, [0, null]);
    t.is(err, '');
    t.deepEqual(
      // Workers that start or stop are briefly unavailable.
      warnings.filter((line) => !line.includes('"a peer failed"')),
      [],
    );
    const kept = await readdir(folder);
    for (const name of ['cache.db', 'cache.db.worker-2']) t.true(kept.includes(name), kept.join());
    t.false(kept.some((name) => name.startsWith('ref-proxy-')));
  },
);
