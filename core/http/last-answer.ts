import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { startTimer } from '../base/time/waits.js';

/**
 * After an answer that ends its connection, input is read and discarded until the client pauses for this time, and at most for the second
 * time.
 */
export const quietMs = 1_000;
export const maxReadMs = 5_000;

/**
 * The last answer of a connection, sent while its request is still arriving. It ends once the rest of the request has been discarded:
 * closing the connection while the client is still sending would discard the answer.
 */
export function lastAnswer(chunks: Iterable<Buffer>, request: IncomingMessage): Readable {
  async function* answer(): AsyncGenerator<Buffer> {
    yield* chunks;
    await discardRest(request);
  }
  return Readable.from(answer(), { objectMode: false });
}

function discardRest(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(whole);
      clearTimeout(quiet);
      resolve();
    };
    const whole = startTimer(end, maxReadMs);
    const quiet = startTimer(end, quietMs);
    request
      .on('data', () => quiet.refresh())
      .once('end', end)
      .once('close', end)
      .resume();
  });
}
