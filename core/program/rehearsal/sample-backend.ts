/**
 * Runs in a thread: a backend that holds the sample of the rehearsal. What it takes of time and memory is not the event loop's, and goes
 * with the thread.
 */
import { request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { endIfTold } from '../../base/end-thread.js';
import { startDevBackend } from '../../embedded/index.js';
import { sampleRows } from './sample-rows.js';

const { startMs } = workerData as { readonly startMs: number };
const { url } = await startDevBackend();
const { streamFields, text } = sampleRows(startMs);
await new Promise<void>((resolve, reject) => {
  const push = request(
    new URL(`/insert/jsonline?_stream_fields=${streamFields}`, url),
    { method: 'POST' },
    (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`the sample was refused: ${answer.statusCode ?? 0}`));
      answer.resume().once('end', resolve);
    },
  );
  push.once('error', reject).end(text);
});
parentPort?.on('message', endIfTold);
parentPort?.postMessage(url);
