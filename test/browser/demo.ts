import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { packageRoot } from '../../core/kernel/options/index.js';
import { freePort } from '../core/program/child.js';

/** A demo in a separate process. */
export interface RunningDemo {
  /** Address of the UI, as printed by the demo. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

const token = 'token-of-the-browser-test';

/**
 * Starts `ref-proxy demo` on free ports. With `token`, the UI is on the main listener and requests need a token; with `tenant`, requests
 * without a tenant are rejected. `more` contains further flags, which override its own; `change` edits the text of its pipeline file.
 */
export async function startDemo(
  wants?: 'token' | 'tenant',
  more: readonly string[] = [],
  change: (yaml: string) => string = (yaml) => yaml,
): Promise<RunningDemo> {
  const root = packageRoot();
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-browser-'));
  const backendPort = await freePort();
  const pipeline = await readFile(join(root, 'pipelines', 'demo.yaml'), 'utf8');
  // The page shows the folder and file name, which appear in the screenshots.
  const file = join(folder, 'pipelines', 'demo.yaml');
  await mkdir(join(folder, 'pipelines'));
  await writeFile(file, change(pipeline.replaceAll('127.0.0.1:9429', `127.0.0.1:${backendPort}`)));
  const args = ['demo', `-pipeline=${file}`, '-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0'];
  if (wants === 'token') args.push(`-server.admin-auth-token=${token}`);
  if (wants === 'tenant') args.push('-require-tenant-header=true');
  args.push(...more);
  const child = spawn(process.execPath, [join(root, 'dist/core/program/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const close = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { url: await printedUrl(child.stdout, exited), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The token of a demo started with `token`. */
export const demoToken = token;

/** The address that the demo prints when it is ready. Its output is read to the end, because a process dies if its output is not read. */
function printedUrl(output: Readable, exited: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    output.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const url = /^page\s+(\S+)/m.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    void exited.then(() => {
      reject(new Error(`the demo ended:\n${text}`));
    });
  });
}
