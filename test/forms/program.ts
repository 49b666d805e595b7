import assert from 'node:assert/strict';
import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { answersGrafana } from './check.js';

/** A generous timeout, for a machine with other load. */
const readyMs = 120_000;
/** The idle time before memory is measured. */
const idleMs = 3_000;
const ticksPerSecond = 100;

/** Starts a form of the program, sends a query when it is ready, stops it, and returns its measurements. */
export async function answersAndEnds(
  command: readonly [string, ...string[]],
  url: string,
  options: SpawnOptions = {},
  more: () => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  const [program, ...args] = command;
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr])
    createInterface({ input: output }).on('line', (line) => lines.push(line));
  let taken = '';
  try {
    await ready(url, () => child.exitCode === null && child.signalCode === null);
    const seconds = processorSeconds(child.pid);
    await answersGrafana(url);
    await more();
    await pause(idleMs);
    taken = `${seconds} s of processor time to /ready, ${residentMb(child.pid)} MB resident`;
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${command.join(' ')}:\n${lines.join('\n')}`, { cause: error });
  }
  return taken;
}

async function ready(url: string, runs: () => boolean): Promise<void> {
  const deadline = Date.now() + readyMs;
  for (;;) {
    try {
      if ((await fetch(`${url}/ready`)).status === 200) return;
    } catch {
      // It is not listening yet.
    }
    if (!runs()) throw new Error('it ended before it was ready');
    if (Date.now() > deadline) throw new Error('it is not ready');
    await pause(100);
  }
}

function processorSeconds(pid: number | undefined): string {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond).toFixed(1);
}

function residentMb(pid: number | undefined): string {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kb) / 1024).toFixed(0);
}
