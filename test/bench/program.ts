import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../core/program/main.js', import.meta.url));

/** The program in its own process, so that its memory and event loop are measured separately. */
export interface RunningProgram {
  readonly url: string;
  /** Current and peak resident memory in MiB. */
  memory(): { readonly nowMiB: number; readonly peakMiB: number };
  /** CPU time since the start, in milliseconds. */
  cpuMs(): number;
  stop(): Promise<void>;
}

/** Starts a command of the program; waits until it prints its address and, for a proxy, until it is ready. */
export async function startProgram(
  args: readonly string[],
  nodeFlags: readonly string[] = [],
): Promise<RunningProgram> {
  const child = spawn(process.execPath, [...nodeFlags, main, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await toldUrl(child);
  if (args[0] === 'serve') await ready(url);
  return {
    url,
    memory: () => memoryOf(child.pid ?? 0),
    cpuMs: () => cpuMsOf(child.pid ?? 0),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

async function toldUrl(child: ChildProcess): Promise<string> {
  const output = child.stdout;
  if (output === null) throw new Error('the program has no output');
  const lines = createInterface({ input: output });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const found = /"main":"(http[^"]+)"|backend on (http\S+)/.exec(line);
      if (found !== null) resolve(found[1] ?? found[2] ?? '');
    });
    child.once('exit', (status) =>
      reject(new Error(`the program ended with ${status ?? 'a signal'} before it listened`)),
    );
  });
  return url;
}

const lookEveryMs = 100;

/** Waits until `/ready` succeeds, like a load balancer before it sends requests to a new process. */
export async function ready(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/ready`);
    await answer.arrayBuffer();
    if (answer.status === 200) return;
    await pause(lookEveryMs);
  }
}

function memoryOf(pid: number): { readonly nowMiB: number; readonly peakMiB: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
  return { nowMiB: mib('VmRSS'), peakMiB: mib('VmHWM') };
}

/** Linux counts CPU time in hundredths of a second. */
const msPerTick = 10;

/** CPU time of a process since its start, in milliseconds; NaN without a process. */
export function cpuMsOf(pid: number): number {
  if (Number.isNaN(pid)) return NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program name, in parentheses, may contain spaces; user and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}
