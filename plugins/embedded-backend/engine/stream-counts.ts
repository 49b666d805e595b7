import type { RowView } from '../logsql/index.js';
import type { Context } from '../http/context.js';
import { blockBounds } from '../store/scan.js';
import type { Stream } from '../store/stream.js';
import { isPureStreamFilter, selectStreams, timeBounds } from './prune.js';
import { type QueryJob, runJob } from './run.js';
import { StoredRow } from './stored-row.js';

/** Number of matching rows per stream. A query with only stream and time filters is answered without reading rows. */
export async function countStreams(ctx: Context, job: QueryJob): Promise<ReadonlyMap<Stream, number>> {
  const counts = new Map<Stream, number>();
  const { filter, pipes, options } = job.query;
  const all = ctx.backend.store.streams(job.tenant);
  if (pipes.length === 0 && options?.timeOffset === undefined && isPureStreamFilter(filter)) {
    const range = timeBounds(filter, job.evalNs);
    for (const stream of selectStreams(all, filter)) {
      let rows = 0;
      for (const block of stream.blocks) {
        const { lo, hi } = blockBounds(block, range);
        rows += Math.max(0, hi - lo);
      }
      if (rows > 0) counts.set(stream, rows);
    }
    return counts;
  }
  const byText = new Map(all.map((stream) => [stream.text, stream]));
  await runJob(ctx, job, {
    push(row: RowView): boolean {
      const stream = row instanceof StoredRow ? row.stream : byText.get(row.get('_stream'));
      if (stream !== undefined) counts.set(stream, (counts.get(stream) ?? 0) + 1);
      return true;
    },
  });
  return counts;
}
