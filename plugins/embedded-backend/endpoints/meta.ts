import { addTo } from '../../../core/base/order.js';
import type { EmbeddedPipe } from '../logsql/index.js';
import { RowCollector } from '../engine/row-writer.js';
import { runJob } from '../engine/run.js';
import { countStreams } from '../engine/stream-counts.js';
import { answerJson, type Context } from '../http/context.js';
import { badRequest } from '../http/errors.js';
import type { Stream } from '../store/stream.js';
import { readQueryArgs } from './query-args.js';

/** `/select/logsql/streams`: `_stream` texts with row counts. */
export function streams(ctx: Context): Promise<void> {
  return streamValues(ctx, (stream) => [stream.text]);
}

/** `/select/logsql/stream_ids`. */
export function streamIds(ctx: Context): Promise<void> {
  return streamValues(ctx, (stream) => [stream.id]);
}

/** `/select/logsql/stream_field_names`. */
export function streamFieldNames(ctx: Context): Promise<void> {
  return streamValues(ctx, (stream) => stream.tags.keys());
}

/** `/select/logsql/stream_field_values?field=f`. */
export function streamFieldValues(ctx: Context): Promise<void> {
  const field = requireField(ctx);
  return streamValues(ctx, (stream) => {
    const value = stream.tags.get(field);
    return value === undefined ? [] : [value];
  });
}

/** `/select/logsql/field_names`: counts exact rows, where the real server counts by storage block. */
export async function fieldNames(ctx: Context): Promise<void> {
  const { job } = readQueryArgs(ctx);
  const counts = new Map<string, number>();
  await runJob(ctx, job, {
    push(row) {
      // Includes columns that are empty in this row: an unpacked `""` and hidden built-in fields are listed too.
      for (const name of row.fieldNames()) counts.set(name, (counts.get(name) ?? 0) + 1);
      return true;
    },
  });
  await answerCounts(ctx, counts);
}

/** `/select/logsql/field_values?field=f`; rows without the field count under `""`. */
export async function fieldValues(ctx: Context): Promise<void> {
  const field = requireField(ctx);
  await pipeValues(ctx, { kind: 'field_values', field }, field);
}

/** `/select/logsql/facets`: the top values of each field. */
export async function facets(ctx: Context): Promise<void> {
  const args = readQueryArgs(ctx);
  const pipe: EmbeddedPipe = {
    kind: 'facets',
    limit: ctx.args.count('limit', 10),
    maxValuesPerField: ctx.args.count('max_values_per_field', 1000),
    maxValueLength: ctx.args.count('max_value_len', 128),
    keepConst: ctx.args.bool('keep_const_fields'),
  };
  const collector = new RowCollector();
  const { query } = args.job;
  await runJob(ctx, { ...args.job, query: { ...query, pipes: [...query.pipes, pipe] } }, collector);
  const byField = new Map<string, { field_value: string; hits: number }[]>();
  for (const row of collector.rows) {
    addTo(byField, row.get('field_name'), {
      field_value: row.get('field_value'),
      hits: Number(row.get('hits')),
    });
  }
  const sorted = [...byField].sort(([a], [b]) => (a < b ? -1 : 1));
  await answerJson(ctx, { facets: sorted.map(([name, values]) => ({ field_name: name, values })) });
}

function requireField(ctx: Context): string {
  const field = ctx.args.get('field');
  if (field === '') throw badRequest("missing 'field' query arg");
  return field;
}

async function streamValues(ctx: Context, valuesOf: (stream: Stream) => Iterable<string>): Promise<void> {
  const { job } = readQueryArgs(ctx);
  const counts = new Map<string, number>();
  for (const [stream, rows] of await countStreams(ctx, job)) {
    for (const value of valuesOf(stream)) counts.set(value, (counts.get(value) ?? 0) + rows);
  }
  await answerCounts(ctx, counts);
}

async function pipeValues(ctx: Context, pipe: EmbeddedPipe, column: string): Promise<void> {
  const { job } = readQueryArgs(ctx);
  const collector = new RowCollector();
  await runJob(ctx, { ...job, query: { ...job.query, pipes: [...job.query.pipes, pipe] } }, collector);
  const counts = new Map<string, number>();
  for (const row of collector.rows) counts.set(row.get(column), Number(row.get('hits')));
  await answerCounts(ctx, counts);
}

/** The common answer of listings: `filter` selects values by substring; if `limit` cuts the list, the counts are reported as 0. */
async function answerCounts(ctx: Context, counts: ReadonlyMap<string, number>): Promise<void> {
  const filter = ctx.args.get('filter');
  const limit = ctx.args.count('limit');
  let values = [...counts]
    .filter(([value]) => value.includes(filter))
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([value, hits]) => ({ value, hits }));
  if (limit > 0 && values.length > limit)
    values = values.slice(0, limit).map(({ value }) => ({ value, hits: 0 }));
  await answerJson(ctx, { values });
}
