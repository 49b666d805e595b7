import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';

/** A part of this package in a folder of its own, for as long as a test runs: package.json, the installed packages and what is named. */
export async function packageCopy(
  t: ExecutionContext,
  paths: readonly string[],
  scripts: Readonly<Record<string, string>> = {},
): Promise<string> {
  const root = packageRoot();
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-copy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  // package.json is this package's own.
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: object;
  };
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ ...manifest, scripts: { ...manifest.scripts, ...scripts } }),
  );
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const path of paths) await cp(join(root, path), join(folder, path), { recursive: true });
  return folder;
}

/** Runs a script of package.json; fails with what it printed unless it ends well. */
export async function npmRun(folder: string, script: string): Promise<void> {
  const npm = spawn('npm', ['run', '-s', script], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: unknown[] = [];
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk: unknown) => printed.push(chunk));
  const [code] = (await once(npm, 'close')) as readonly unknown[];
  if (code !== 0) throw new Error(`npm run ${script} failed: ${printed.join('')}`);
}
