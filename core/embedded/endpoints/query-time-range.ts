import { hasTimeFilter, timeBounds } from '../engine/prune.js';
import { answerJson, type Context } from '../http/context.js';
import { formatTime } from '../logsql/index.js';
import { MAX_NS, MIN_NS } from '../http/time-arg.js';
import { readQueryArgs } from './query-args.js';

/**
 * `/select/logsql/query_time_range`: the range a query looks at. Without a time filter of its own the arguments are
 * given back as they came; with one, the common range of both with an inclusive end.
 */
export async function queryTimeRange(ctx: Context): Promise<void> {
  const { original, job, startNs, endNs } = readQueryArgs(ctx);
  const has = hasTimeFilter(original.filter);
  const bounds = timeBounds(job.query.filter, job.evalNs);
  const start = has ? bounds.minNs : (startNs ?? MIN_NS);
  const end = has ? bounds.maxNs : (endNs ?? MAX_NS);
  await answerJson(ctx, { start: formatTime(start), end: formatTime(end), hasTimeFilter: has });
}
