import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { packageRoot } from '../../core/kernel/options/index.js';
import { freePort } from '../core/program/child.js';

/** A demo that runs in a process of its own. */
export interface RunningDemo {
  /** Address of the page, as the demo prints it. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

const token = 'token-of-the-browser-test';

/**
 * Starts `ref-proxy demo` on free ports. One that wants a token has the page on its main listener, where it asks for it; one that wants a tenant
 * refuses requests without. `more` are further flags, which win over its own; `change` changes the text of its file.
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
  // The page shows folder and file, which stand in the pictures.
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

/** The token of a demo that wants one. */
export const demoToken = token;

/** The address that the demo prints once it serves. Its output is read to the end: a process whose output nobody takes dies of it. */
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
