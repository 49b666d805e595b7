import { addTo } from '../../../core/base/order.js';
import type { GroupKey, EmbeddedPipe, EmbeddedQuery, EmbeddedStatsPipe } from '../logsql/index.js';
import { build, printEmbeddedPipe, printEmbeddedQuery } from '../logsql/index.js';
import { RowCollector } from '../engine/row-writer.js';
import { runJob } from '../engine/run.js';
import { statsColumns } from '../engine/stats-columns.js';
import { keepsRowsInTime } from '../engine/time-order.js';
import { answerJson, answerText, type Context } from '../http/context.js';
import { badRequest, ClientGoneError, HttpError, QueryTimeoutError } from '../http/errors.js';
import { parseTime } from '../http/time-arg.js';
import { makeTags, tagsText } from '../store/stream-tags.js';
import { readQueryArgs, requireBuckets } from './query-args.js';

/** One value of one series, as written by the stats endpoints. */
interface Sample {
  /** Position of the column among the results; the first sort key of series. */
  readonly column: number;
  readonly metric: ReadonlyMap<string, string>;
  readonly seconds: number;
  readonly value: string;
}

/** `/select/logsql/stats_query`: one value per group (docs/protocol/victorialogs.md#statistics). */
export const statsQuery = withJsonErrors(async (ctx) => {
  const { job } = readQueryArgs(ctx);
  requireStats(job.query);
  const samples = await runStats(ctx, job.query, job, () => Number(job.evalNs) / 1e9);
  await answerJson(ctx, {
    status: 'success',
    data: {
      resultType: 'vector',
      result: samples.map(({ metric, seconds, value }) => ({
        metric: Object.fromEntries(metric),
        value: [seconds, value],
      })),
    },
  });
});

/** `/select/logsql/stats_query_range`: values per group and bucket, without filling of gaps. */
export const statsQueryRange = withJsonErrors(async (ctx) => {
  const args = readQueryArgs(ctx);
  const { stepNs, offsetNs } = requireBuckets(args);
  const at = requireStats(args.job.query);
  const query = groupByTime(args.job.query, at, build.timeBucket(stepNs, offsetNs));
  const samples = await runStats(
    ctx,
    query,
    args.job,
    (row) => Number(parseTime(row.get('_time'), 0n) ?? 0n) / 1e9,
  );
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    // Sorts by column, then by the text of the non-empty labels: the order in which the real server lists series.
    const shown = [...sample.metric].filter(([, value]) => value !== '');
    const key = `${String(sample.column).padStart(4, '0')}${tagsText(makeTags(shown))}`;
    addTo(series, key, sample);
  }
  const ordered = [...series].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, list]) => list);
  await answerJson(ctx, {
    status: 'success',
    data: {
      resultType: 'matrix',
      result: ordered.map((list) => ({
        metric: Object.fromEntries(list[0]?.metric ?? []),
        values: list.sort((a, b) => a.seconds - b.seconds).map(({ seconds, value }) => [seconds, value]),
      })),
    },
  });
});

/** Index of the last `stats` pipe; HTTP 400 (422 here) if there is none. */
function requireStats(query: EmbeddedQuery): number {
  const at = query.pipes.findLastIndex((pipe) => pipe.kind === 'stats');
  if (at === -1) throw badRequest(`missing \`| stats ...\` pipe in the query [${printEmbeddedQuery(query)}]`);
  return at;
}

/** Adds the time bucket to the grouping; earlier pipes must not change `_time`. */
function groupByTime(query: EmbeddedQuery, at: number, bucket: GroupKey): EmbeddedQuery {
  const pipes: EmbeddedPipe[] = [...query.pipes];
  // `requireStats` found a stats pipe at this index.
  const stats = pipes[at] as EmbeddedStatsPipe;
  const offender = pipes.slice(0, at).find((pipe) => !keepsRowsInTime(pipe) && !isSelection(pipe));
  if (offender !== undefined) {
    throw badRequest(
      `the pipe \`| ${JSON.stringify(printEmbeddedPipe(offender))}\` cannot be put in front of ` +
        `\`| ${JSON.stringify(printEmbeddedPipe(stats))}\`, since it may modify or delete \`_time\` field`,
    );
  }
  pipes[at] = { ...stats, by: [bucket, ...stats.by.filter((key) => key.field !== '_time')] };
  return { ...query, pipes };
}

/** Pipes that select or sort whole rows, or unpack fields, all of which keep a time. */
function isSelection(pipe: EmbeddedPipe): boolean {
  return ['sort', 'first', 'last', 'limit', 'offset', 'unpack_json', 'unpack_logfmt'].includes(pipe.kind);
}

async function runStats(
  ctx: Context,
  query: EmbeddedQuery,
  job: Parameters<typeof runJob>[1],
  secondsOf: (row: RowCollector['rows'][number]) => number,
): Promise<Sample[]> {
  const { labels, values } = statsColumns(query);
  const collector = new RowCollector();
  await runJob(ctx, { ...job, query }, collector);
  return collector.rows.flatMap((row) => {
    const seconds = secondsOf(row);
    const own = labels.map((label) => [label, row.get(label)] as const);
    return values.flatMap((name, column): Sample[] => {
      const value = row.get(name);
      const buckets = histogramBuckets(value);
      if (buckets === undefined)
        return [{ column, metric: new Map([['__name__', name], ...own]), seconds, value }];
      return buckets.map(([range, hits]) => ({
        column,
        metric: new Map([['__name__', `${name}_bucket`], ...own, ['vmrange', range]]),
        seconds,
        value: hits,
      }));
    });
  });
}

/** The buckets of a `histogram()` value, each of which becomes a series. */
function histogramBuckets(value: string): (readonly [string, string])[] | undefined {
  if (!value.startsWith('[{"vmrange":')) return undefined;
  // Only `histogram()` produces this text, an array of such objects.
  const entries = JSON.parse(value) as { vmrange: string; hits: number }[];
  return entries.map(({ vmrange, hits }) => [vmrange, String(hits)] as const);
}

/** The real server escapes these two characters in its JSON errors. */
function escapeForHtml(json: string): string {
  return json.replaceAll("'", '\\u0027').replaceAll('<', '\\u003c');
}

/** The two stats endpoints return errors as JSON with status 422. */
function withJsonErrors(handler: (ctx: Context) => Promise<void>): (ctx: Context) => Promise<void> {
  return async (ctx) => {
    try {
      await handler(ctx);
    } catch (error) {
      const own = error instanceof HttpError && error.status === 400;
      if (!own || error instanceof QueryTimeoutError || error instanceof ClientGoneError || ctx.out.started)
        throw error;
      ctx.out.discard();
      const text = JSON.stringify({ status: 'error', errorType: '422', error: error.message });
      await answerText(ctx, 422, escapeForHtml(text), 'application/json');
    }
  };
}
