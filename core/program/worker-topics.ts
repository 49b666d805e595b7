import type { Urls } from '../http/listener.js';
import type { Measurements } from '../kernel/telemetry/added-up.js';
import type { Topic } from '../workers/line.js';

/** A worker tells the first process that it answers requests. */
export const servingTopic: Topic<Urls, null> = { name: 'serving' };
/** The first process asks a worker for its metrics. */
export const measurementsTopic: Topic<null, Measurements> = { name: 'measurements' };
/** A worker asks the first process for the metrics of all. */
export const exposeTopic: Topic<null, { readonly contentType: string; readonly text: string }> = {
  name: 'expose',
};
