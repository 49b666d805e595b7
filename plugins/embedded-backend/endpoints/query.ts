import type { EmbeddedPipe, EmbeddedQuery } from '../logsql/index.js';
import { CsvRowWriter, JsonRowWriter } from '../engine/row-writer.js';
import { runJob } from '../engine/run.js';
import { keepsRowsInTime } from '../engine/time-order.js';
import type { Context } from '../http/context.js';
import { badRequest } from '../http/errors.js';
import { readQueryArgs } from './query-args.js';

/** `/select/logsql/query`: rows as NDJSON, or CSV with `format=csv` (docs/protocol/victorialogs.md#rows). */
export async function queryRows(ctx: Context): Promise<void> {
  const args = readQueryArgs(ctx);
  const limit = ctx.args.count('limit');
  const query = limit > 0 ? withLimit(args.job.query, limit, ctx.args.count('offset')) : args.job.query;
  const format = ctx.args.get('format');
  if (format === 'csv') {
    ctx.out.begin(200, 'text/csv');
    const writer = new CsvRowWriter(ctx.out);
    await runJob(ctx, { ...args.job, query }, writer);
    writer.finish();
  } else if (format === '') {
    ctx.out.begin(200, 'application/stream+json');
    await runJob(ctx, { ...args.job, query }, new JsonRowWriter(ctx.out, ctx.fault));
  } else {
    throw badRequest(`unexpected format=${JSON.stringify(format)}; expecting 'csv' or ''`);
  }
  await ctx.out.end();
}

/**
 * Limits the query to the newest `limit` rows, newest first, if the pipes keep `_time`; after a sort, stats and the like, adds a plain
 * limit.
 */
function withLimit(query: EmbeddedQuery, limit: number, offset: number): EmbeddedQuery {
  const pipes: EmbeddedPipe[] = [...query.pipes];
  if (pipes.every(keepsTime)) {
    // The limit is part of the sort, which then never holds more rows than requested.
    pipes.push({
      kind: 'sort',
      by: [{ field: '_time', desc: true }],
      desc: false,
      partitionBy: [],
      offset,
      limit,
    });
  } else {
    if (offset > 0) pipes.push({ kind: 'offset', count: offset });
    pipes.push({ kind: 'limit', count: limit });
  }
  return { ...query, pipes };
}

/** True for row-wise pipes that may change `_time` but not remove it, so that the sort must run after them. */
function keepsTime(pipe: EmbeddedPipe): boolean {
  return (
    keepsRowsInTime(pipe) || ['unpack_json', 'unpack_logfmt', 'extract', 'extract_regexp'].includes(pipe.kind)
  );
}
