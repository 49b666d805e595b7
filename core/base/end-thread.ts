import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';

const ending = 'end of the thread';
/** How long a thread may take to end. */
const endWithinMs = 3_000;

/**
 * Has a thread that speaks HTTP end by itself; one that does not is terminated. Node ends the whole process when a thread is terminated while it
 * reads a request or an answer. The thread hands its messages to `endIfTold`.
 */
export async function endThread(thread: Worker): Promise<void> {
  // It has ended.
  if (thread.threadId < 0) return;
  const ended = new AbortController();
  thread.once('exit', () => ended.abort());
  thread.postMessage(ending);
  await pause(endWithinMs, undefined, { signal: ended.signal, ref: false }).then(
    () => thread.terminate(),
    () => undefined,
  );
}

/** Called in such a thread, where nothing of HTTP is being read. */
export function endIfTold(message: unknown): void {
  if (message === ending) process.exit();
}
