import type { Urls } from '../http/listener.js';
import type { CompactMetric } from '../kernel/telemetry/compact.js';
import type { ReloadReport, WorkerReload } from '../kernel/plugin/host.js';
import type { Topic } from '../workers/channel.js';

/** A worker tells the first process that it answers requests. */
export const servingTopic: Topic<Urls, null> = { name: 'serving' };
/** The first process tells a worker that is shutting down that `-shutdown-delay` is over. */
export const drainTopic: Topic<null, null> = { name: 'drain' };
/** The first process asks a worker for its metrics. */
export const measurementsTopic: Topic<null, readonly CompactMetric[]> = { name: 'measurements' };
/** A worker asks the first process for the metrics of all. */
export const exposeTopic: Topic<null, { readonly contentType: string; readonly text: string }> = {
  name: 'expose',
};
/** The first process asks a worker to read the pipeline file again. */
export const reloadTopic: Topic<null, ReloadReport> = { name: 'reload' };
/** A worker asks the first process to have all of them read it. */
export const reloadAllTopic: Topic<null, readonly WorkerReload[]> = { name: 'reload all' };
