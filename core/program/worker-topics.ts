import type { Urls } from '../http/listener.js';
import type { ReloadReport, WorkerReload } from '../kernel/plugin/host.js';
import type { Measurements } from '../kernel/telemetry/series.js';
import type { Topic } from '../workers/channel.js';

/** Sent by a worker to the first process when it answers requests. */
export const servingTopic: Topic<Urls, void> = { name: 'serving' };
/** Sent by the first process to a worker that is shutting down, when `-shutdown-delay` is over. */
export const drainTopic: Topic<null, void> = { name: 'drain' };
/** Sent by the first process to get a worker's metrics. */
export const measurementsTopic: Topic<null, Measurements> = { name: 'measurements' };
/** Sent by a worker to the first process to get the metrics of all. */
export const exposeTopic: Topic<null, { readonly contentType: string; readonly text: string }> = {
  name: 'expose',
};
/** Sent by the first process to make a worker reload the pipeline file. */
export const reloadTopic: Topic<null, ReloadReport> = { name: 'reload' };
/** Sent by a worker to the first process to reload the file in all workers. */
export const reloadAllTopic: Topic<null, readonly WorkerReload[]> = { name: 'reload all' };
