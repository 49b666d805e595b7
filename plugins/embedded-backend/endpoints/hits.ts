import { ofKey } from '../../../core/base/memory/byte-lru.js';
import { build, formatTime, type EmbeddedPipe } from '../logsql/index.js';
import { RowCollector } from '../engine/row-writer.js';
import { runJob } from '../engine/run.js';
import { answerJson, type Context } from '../http/context.js';
import { badRequest } from '../http/errors.js';
import { parseTime } from '../http/time-arg.js';
import { type BucketArgs, bucketStart, readQueryArgs, requireBuckets } from './query-args.js';

/** Maximum number of zero-filled buckets; a request for more has a wrong step. */
const MAX_BUCKETS = 200_000;

interface Series {
  readonly fields: ReadonlyMap<string, string>;
  readonly counts: Map<bigint, number>;
  total: number;
}

/** `/select/logsql/hits`: counts per bucket and group, zero-filled (docs/protocol/victorialogs.md#hits-and-listings). */
export async function hits(ctx: Context): Promise<void> {
  const args = readQueryArgs(ctx);
  const buckets = requireBuckets(args);
  const fields = ctx.args.all('field');
  const fieldsLimit = ctx.args.count('fields_limit');
  const pipes = [
    ...rowPipes(args.job.query.pipes),
    build.stats(
      [build.timeBucket(buckets.stepNs, buckets.offsetNs), ...fields],
      build.statsFunction('count', [], 'hits'),
    ),
  ];
  const rows = new RowCollector();
  await runJob(ctx, { ...args.job, query: { ...args.job.query, pipes } }, rows);

  const series = new Map<string, Series>();
  for (const row of rows.rows) {
    const labels = new Map(fields.map((name) => [name, row.get(name)]));
    const bucket = parseTime(row.get('_time'), 0n);
    if (bucket === undefined) continue;
    addCount(series, labels, bucket, Number(row.get('hits')));
  }
  let ordered = [...series.entries()]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, item]) => item);
  if (fieldsLimit > 0 && ordered.length > fieldsLimit) ordered = mergeRest(ordered, fieldsLimit);
  const stamps = bucketStamps(ordered, buckets, args.startNs, args.endNs);
  await answerJson(ctx, {
    hits: ordered.map((item) => ({
      fields: Object.fromEntries(item.fields),
      timestamps: stamps.map((ns) => formatTime(ns)),
      values: stamps.map((stamp) => item.counts.get(stamp) ?? 0),
      total: item.total,
    })),
  });
}

/** The pipes before the first one whose rows no longer have a time; that pipe is ignored rather than rejected. */
function rowPipes(pipes: readonly EmbeddedPipe[]): readonly EmbeddedPipe[] {
  const kinds = new Set<EmbeddedPipe['kind']>([
    'stats',
    'uniq',
    'top',
    'field_names',
    'field_values',
    'facets',
  ]);
  const at = pipes.findIndex((pipe) => kinds.has(pipe.kind));
  return at === -1 ? pipes : pipes.slice(0, at);
}

function addCount(
  series: Map<string, Series>,
  fields: ReadonlyMap<string, string>,
  bucket: bigint,
  count: number,
): void {
  const key = JSON.stringify([...fields]);
  const item = ofKey(series, key, (): Series => ({ fields, counts: new Map(), total: 0 }));
  item.counts.set(bucket, (item.counts.get(bucket) ?? 0) + count);
  item.total += count;
}

/** Keeps the largest groups and merges the others into one series without fields, which comes last. */
function mergeRest(ordered: readonly Series[], keep: number): Series[] {
  const busiest = new Set([...ordered].sort((a, b) => b.total - a.total).slice(0, keep));
  const rest = new Map<string, Series>();
  for (const item of ordered) {
    if (busiest.has(item)) continue;
    for (const [bucket, count] of item.counts) addCount(rest, new Map(), bucket, count);
  }
  return [...ordered.filter((item) => busiest.has(item)), ...rest.values()];
}

function bucketStamps(
  series: readonly Series[],
  buckets: BucketArgs,
  startNs: bigint | undefined,
  endNs: bigint | undefined,
): bigint[] {
  const seen = series.flatMap((item) => [...item.counts.keys()]);
  const [head] = seen;
  if (head === undefined) return [];
  const first =
    startNs === undefined ? seen.reduce((a, b) => (b < a ? b : a), head) : bucketStart(startNs, buckets);
  const last =
    endNs === undefined ? seen.reduce((a, b) => (b > a ? b : a), head) : bucketStart(endNs - 1n, buckets);
  if ((last - first) / buckets.stepNs >= BigInt(MAX_BUCKETS)) {
    throw badRequest(`too many buckets between start and end: more than ${MAX_BUCKETS}; use a larger step`);
  }
  const stamps: bigint[] = [];
  for (let at = first; at <= last; at += buckets.stepNs) stamps.push(at);
  return stamps;
}
