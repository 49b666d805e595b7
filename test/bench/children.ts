import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FloodOrder, FloodResult } from './flood.js';

/** Repeats one request as fast as possible from a separate process. */
export async function flood(order: FloodOrder): Promise<FloodResult> {
  const child = start('flood.js');
  try {
    return await told<FloodResult>(child, order);
  } finally {
    child.kill();
  }
}

/** Forks a module of this folder. */
export function start(file: string): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)));
}

/** Sends an order to a child process and resolves with its reply. */
export function told<Result>(child: ChildProcess, order: object): Promise<Result> {
  return new Promise((resolve, reject) => {
    child.once('message', (result) => resolve(result as Result));
    child.once('exit', (status) =>
      reject(new Error(`a process of the benchmark ended with ${status ?? 'a signal'}`)),
    );
    child.send(order);
  });
}
