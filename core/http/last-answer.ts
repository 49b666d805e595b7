import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** Behind an answer that ends its connection is read on until nothing comes for a while, and no longer than this. */
export const restMs = 1_000;
export const lastReadMs = 5_000;

/**
 * The answer to a request that is still being sent, and the last one of its connection: it ends when the rest of the request was
 * thrown away. A connection that is closed under a sending client takes the answer away from it.
 */
export function lastAnswer(chunks: Iterable<Buffer>, request: IncomingMessage): Readable {
  async function* answer(): AsyncGenerator<Buffer> {
    yield* chunks;
    await readAway(request);
  }
  return Readable.from(answer(), { objectMode: false });
}

function readAway(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(whole);
      clearTimeout(quiet);
      resolve();
    };
    const whole = setTimeout(end, lastReadMs);
    const quiet = setTimeout(end, restMs);
    request
      .on('data', () => quiet.refresh())
      .once('end', end)
      .once('close', end)
      .resume();
  });
}
