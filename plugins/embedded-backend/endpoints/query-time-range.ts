import { hasTimeFilter, timeBounds } from '../engine/prune.js';
import { answerJson, type Context } from '../http/context.js';
import { formatTime } from '../logsql/index.js';
import { MAX_NS, MIN_NS } from '../http/time-arg.js';
import { readQueryArgs } from './query-args.js';

/**
 * `/select/logsql/query_time_range`: the time range that a query reads. Without a time filter in the query, it returns the arguments as
 * they are; with one, the intersection with an inclusive end.
 */
export async function queryTimeRange(ctx: Context): Promise<void> {
  const { original, job, startNs, endNs } = readQueryArgs(ctx);
  const has = hasTimeFilter(original.filter);
  const bounds = timeBounds(job.query.filter, job.evalNs);
  const start = has ? bounds.minNs : (startNs ?? MIN_NS);
  const end = has ? bounds.maxNs : (endNs ?? MAX_NS);
  await answerJson(ctx, { start: formatTime(start), end: formatTime(end), hasTimeFilter: has });
}
