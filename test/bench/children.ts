import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FloodOrder, FloodResult } from './flood.js';

/** Asks for the same bytes again and again from a process of its own. */
export async function flood(order: FloodOrder): Promise<FloodResult> {
  const child = start('flood.js');
  try {
    return await told<FloodResult>(child, order);
  } finally {
    child.kill();
  }
}

/** Starts a file of this folder. */
export function start(file: string): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)));
}

/** What a child says to an order. */
export function told<Result>(child: ChildProcess, order: object): Promise<Result> {
  return new Promise((resolve, reject) => {
    child.once('message', (result) => resolve(result as Result));
    child.once('exit', (status) =>
      reject(new Error(`a process of the benchmark ended with ${status ?? 'a signal'}`)),
    );
    child.send(order);
  });
}
