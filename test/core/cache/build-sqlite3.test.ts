import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { withoutSqlite3 } from './without-sqlite3.js';

const script = fileURLToPath(new URL('build-sqlite3.js', import.meta.url));

/** Runs the first step of `npm test` with these programs as npm and compilers, and returns its output. */
async function step(
  t: ExecutionContext,
  programs: Readonly<Record<string, string>>,
  ...flags: readonly string[]
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-step-'));
  t.teardown(() => rm(folder, { recursive: true }));
  for (const [name, code] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${code}\n`);
    await chmod(join(folder, name), 0o755);
  }
  await symlink(process.execPath, join(folder, 'node'));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, script], {
    env: { PATH: folder },
  });
  return stdout + stderr;
}

test('sqlite3 is built where it is not, and its tests are left out where it cannot be', async (t) => {
  const npm = '[ "$*" = "run -s sqlite3" ] || exit 7';
  const tools = { 'c++': '', make: '', python3: '' };
  t.regex(
    await step(t, { npm, ...tools }, withoutSqlite3),
    /^sqlite3 is not built yet: .* or compiles SQLite .*\nsqlite3 is built, after \d+ s\n$/,
  );
  t.regex(
    await step(t, { npm: 'exit 1', make: '' }, withoutSqlite3),
    /^sqlite3 is not built yet: .* there is no c\+\+, no python3 here\nsqlite3 could not be built: .*\n$/,
  );
});
