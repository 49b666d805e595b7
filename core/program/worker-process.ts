import cluster from 'node:cluster';
import { createHash } from 'node:crypto';
import { systemClock } from '../kernel/plugin/exchange.js';
import { mapPlugins, sectionsOf, type Pipeline } from '../kernel/pipeline/types.js';
import { Channel, type Message } from '../workers/channel.js';
import { Joined, type WorkerSockets } from '../workers/workers.js';

/** Set by the first process for each worker: its number and sockets, as JSON. */
export const workerVariable = 'REF_PROXY_WORKER';

export interface WorkerSlot {
  readonly id: number;
  readonly count: number;
  readonly identity: string;
  readonly sockets?: WorkerSockets | undefined;
}

/** The number and sockets of this process as a worker; undefined if it is not a worker. */
export function workerSlot(): WorkerSlot | undefined {
  const text = process.env[workerVariable];
  // Written by the first process.
  return cluster.isWorker && text !== undefined ? (JSON.parse(text) as WorkerSlot) : undefined;
}

/** Creates this process's end of the channel to the first process. */
export function joinFirstProcess({ id, count, sockets }: WorkerSlot): {
  readonly joined: Joined;
  readonly channel: Channel;
} {
  const channel = new Channel((message) => {
    if (process.send === undefined || !process.connected) return false;
    process.send(message, undefined, undefined, () => undefined);
    return true;
  });
  process.on('message', (message: Message) => channel.receive(message));
  return { channel, joined: new Joined({ id, count, sockets, channel, clock: systemClock }) };
}

/** The parts of a pipeline that are fixed while the process runs; all workers of a proxy have the same ones. */
export function pipelineIdentity(pipeline: Pipeline): string {
  const plugins = mapPlugins(pipeline, ({ id, use, options }) => [id, use, options]);
  const text = JSON.stringify([sectionsOf(pipeline), plugins]);
  return createHash('sha256').update(text).digest('hex');
}
