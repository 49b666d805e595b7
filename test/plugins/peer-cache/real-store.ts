import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../core/program/child.js';

/** The executable of a Valkey or Redis on this machine: `VALKEY_SERVER`, or one in the PATH. */
export const storeProgram: string | undefined =
  process.env['VALKEY_SERVER'] ??
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => ['valkey-server', 'redis-server'].map((name) => join(folder, name)))
    .find((file) => existsSync(file));

/** A Valkey or Redis without persistence. */
export class RealStore {
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    args: readonly string[],
  ) {
    this.#args = args;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  static async start(t: Pick<ExecutionContext, 'teardown'>, ...args: readonly string[]): Promise<RealStore> {
    const store = new RealStore(await freePort(), args);
    const atExit = (): void => void store.kill();
    process.once('exit', atExit);
    t.teardown(async () => {
      process.removeListener('exit', atExit);
      await store.kill();
    });
    await store.start();
    return store;
  }

  async start(): Promise<void> {
    const usual = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.#child = spawn(storeProgram ?? '', [...usual, ...this.#args], { stdio: 'ignore' });
    while (!(await accepts(this.port))) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Kills the process, like a machine crash: its data is lost. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Pauses the process, or resumes it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
