import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { packageRoot } from '../../core/kernel/options/index.js';
import { isOpen } from '../core/program/child.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

const root = packageRoot();
/** The packages that TypeScript needs in a project, in addition to this package. */
const forTypes = ['typescript', '@types/node', 'undici-types'];
const stopTimeoutMs = 30_000;

/** A new project in which the packed package is installed. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'ref-proxy-project-'));
  /** The folder of the installed package. */
  readonly installed = join(this.folder, 'node_modules', 'ref-proxy');
  /** The file that `npm pack` wrote. */
  readonly tarball: string;

  constructor() {
    const { name, version } = readManifest(root);
    this.tarball = join(root, 'dist', `${name}-${version}.tgz`);
  }

  /**
   * Creates node_modules as `npm install` would, without a registry: the files of the tarball, and links to its dependencies in the
   * repository.
   * Development dependencies are left out.
   */
  install(): void {
    mkdirSync(this.installed, { recursive: true });
    execFileSync('tar', ['-xzf', this.tarball, '--strip-components=1', '-C', this.installed]);
    // package-lock.json is the lock file of this package.
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
    for (const [path, { dev }] of Object.entries(packages)) {
      const isWanted = dev !== true || forTypes.includes(path.replace('node_modules/', ''));
      if (isWanted && /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) && existsSync(join(root, path)))
        this.#link(join(root, path), path);
    }
    this.#link(join('..', 'typescript', 'bin', 'tsc'), 'node_modules/.bin/tsc');
    for (const [command, file] of Object.entries(readManifest(this.installed).bin)) {
      chmodSync(join(this.installed, file), 0o755);
      this.#link(join('..', 'ref-proxy', file), `node_modules/.bin/${command}`);
    }
  }

  /** Runs a command in the project and returns its output; throws with the output if it fails. */
  run(command: string, ...args: readonly string[]): string {
    return execFileSync(command, args, { cwd: this.folder, encoding: 'utf8', stdio: 'pipe' });
  }

  /** Packs a package in a folder of the project and installs it, without a registry. */
  installOwn(folder: string, name: string): void {
    const [tarball = ''] = this.run('npm', 'pack', '--silent', `./${folder}`).trim().split('\n').slice(-1);
    const target = join(this.folder, 'node_modules', name);
    mkdirSync(target, { recursive: true });
    execFileSync('tar', ['-xzf', join(this.folder, tarball), '--strip-components=1', '-C', target]);
  }

  /**
   * Runs a command of `npx ref-proxy` that serves while `use` sends requests, stops npx as a supervisor does, and waits until nothing
   * listens any
   * more.
   */
  async serve(
    args: readonly string[],
    use: (url: string) => Promise<void>,
    command: 'serve' | 'demo' | 'backend' = 'serve',
  ): Promise<void> {
    const child = spawn('npx', ['--no', 'ref-proxy', command, ...args, '-listen=127.0.0.1:0'], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const url = await mainUrl(child.stdout);
      await use(url);
      child.kill('SIGTERM');
      const deadline = Date.now() + stopTimeoutMs;
      while (await isOpen(`${url}/health`))
        if (Date.now() > deadline) throw new Error('npx has ended, but the proxy still serves');
    } finally {
      child.kill('SIGTERM');
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #link(target: string, path: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    symlinkSync(target, join(this.folder, path));
  }
}

/** The main URL that a command prints. The output is read to its end. */
async function mainUrl(output: Readable): Promise<string> {
  const lines = createInterface({ input: output });
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const url = /(?:"main":"|backend on |^ref-proxy +)(http:\/\/[\w.]+:\d+)/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
    lines.once('close', () => reject(new Error('ref-proxy ended before it served')));
  });
}

function readManifest(folder: string): Manifest {
  // package.json is the manifest of this package.
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
