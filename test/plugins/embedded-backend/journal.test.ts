import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import test from 'ava';

import { pushLoki, rows, withBackend } from './harness.js';

const T = 1_791_676_800_000_000_000n;

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'devbackend-'));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('rows survive a restart, tenants, order and deletions included', async (t) => {
  await withFolder(async (dataDir) => {
    const tenant = { AccountID: '4' };
    await withBackend(t, { dataDir }, async ({ url }) => {
      await pushLoki(url, { app: 'x' }, [
        [T, 'b', { k: 'v' }],
        [T, 'c'],
        [T - 1n, 'a'],
      ]);
      await pushLoki(url, { app: 'x' }, [[T, 'theirs']], '?disable_message_parsing=1', tenant);
      await fetch(`${url}/delete/run_task`, {
        method: 'POST',
        body: new URLSearchParams({ filter: '_msg:=c' }),
      });
      while ((await rows(url, '*')).length !== 2) await new Promise(setImmediate);
      await pushLoki(url, { app: 'x' }, [[T + 1n, 'c']]);
    });
    await withBackend(t, { dataDir }, async ({ url }) => {
      const kept = await rows(url, '* | sort by (_time) | fields _msg, k, _stream');
      t.deepEqual(kept, [
        { _msg: 'a', _stream: '{app="x"}' },
        { _msg: 'b', k: 'v', _stream: '{app="x"}' },
        { _msg: 'c', _stream: '{app="x"}' },
      ]);
      t.is((await rows(url, '*', {}, tenant)).length, 1);
    });
  });
});

test('a line that a crash cut short costs only itself', async (t) => {
  await withFolder(async (dataDir) => {
    await withBackend(t, { dataDir }, async ({ url }) => {
      await pushLoki(url, { app: 'x' }, [[T, 'a']]);
    });
    await appendFile(join(dataDir, 'rows.jsonl'), '["r",0,"179167');
    await withBackend(t, { dataDir }, async ({ url }) => {
      await pushLoki(url, { app: 'y' }, [[T, 'b']]);
    });
    await withBackend(t, { dataDir }, async ({ url }) => {
      t.deepEqual(await rows(url, '* | sort by (_msg) | fields _stream, _msg'), [
        { _stream: '{app="x"}', _msg: 'a' },
        { _stream: '{app="y"}', _msg: 'b' },
      ]);
    });
  });
});
