import type { Worker } from 'node:worker_threads';
import { sleep } from './time/waits.js';

const ending = 'end of the thread';
/** Time for a thread to end by itself before it is terminated. */
const endWithinMs = 3_000;

/**
 * Asks a thread that uses HTTP to end by itself, and terminates it if it does not. Node aborts the whole process when a thread is
 * terminated while its HTTP parser runs. The thread passes its messages to `endIfTold`.
 */
export async function endThread(thread: Worker): Promise<void> {
  // It has already ended.
  if (thread.threadId < 0) return;
  const ended = new AbortController();
  thread.once('exit', () => ended.abort());
  thread.postMessage(ending);
  await sleep(endWithinMs, { signal: ended.signal, ref: false }).then(
    () => thread.terminate(),
    () => undefined,
  );
}

/** Called in such a thread, outside of any HTTP parser callback. */
export function endIfTold(message: unknown): void {
  if (message === ending) process.exit();
}
