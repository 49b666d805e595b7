import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';

/** The built program. */
export const main = fileURLToPath(new URL('../../../core/program/main.js', import.meta.url));
export const minimalPipeline = fileURLToPath(new URL('../../../../pipelines/minimal.yaml', import.meta.url));

/** A process under test. */
export interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  /** Exit status and signal. */
  readonly exited: Promise<readonly unknown[]>;
}

/** Below the range of ephemeral ports: an ephemeral port could be given to another test before it is used. */
const ports = { first: 20_000, count: 12_000 };
/** Number of ports per process; process ids are consecutive. */
const portsEach = 16;
let chosen = 0;

/** A free port that no other test chooses. */
export async function freePort(): Promise<number> {
  while (chosen < ports.count) {
    const port = ports.first + ((process.pid * portsEach + chosen) % ports.count);
    chosen += 1;
    const server = createServer();
    const isTaken = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(true));
      server.listen(port, '127.0.0.1', () => resolve(false));
    });
    if (isTaken) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error(`no port of ${ports.count} is free`);
}

/** Starts a command of the program with its output in a file, such as /dev/full, and waits until this path answers. */
export async function startInto(file: string, path: string, ...args: string[]): Promise<Started> {
  const port = await freePort();
  const out = openSync(file, 'w');
  const child = run([...args, `-listen=127.0.0.1:${port}`], ['ignore', out, 'ignore']);
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  while (!(await isOpen(url + path))) {
    if (child.exitCode !== null) throw new Error(`ref-proxy ${args.join(' ')} ended with ${child.exitCode}`);
  }
  return { child, url, exited };
}

export function run(args: readonly string[], stdio: StdioOptions): ChildProcess {
  return spawn(process.execPath, [main, ...args], { stdio });
}

/** The address at which a process serves; it may print others before, such as that of its backend. */
export async function addressIn(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = /(?:"main":"|\bmain=|backend on |^ref-proxy +)(https?:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('the process ended without an address');
}

/** True if a server at this address accepts connections and answers. */
export async function isOpen(url: string): Promise<boolean> {
  try {
    await (await request(url, { reset: true })).body.dump();
    return true;
  } catch {
    return false;
  }
}
