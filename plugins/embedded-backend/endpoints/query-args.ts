import { bucketFloor } from '../../../core/victoria/logsql/ops/stats.js';
import { type FieldRef, type LogsqlFilter, type EmbeddedQuery, parseDurationNs } from '../logsql/index.js';
import { fieldOf } from '../logsql/parse-tokens.js';
import {
  parseExtraFilter,
  parseExtraStreamFilter,
  parseQueryArg,
  restrictQuery,
} from '../engine/language.js';
import type { QueryJob } from '../engine/run.js';
import type { Context } from '../http/context.js';
import { badRequest } from '../http/errors.js';
import { MAX_NS, MIN_NS, parseTimeArg } from '../http/time-arg.js';

const MAX_QUERY_BYTES = 16_384;

/** Half-open buckets `[k*step - offset, (k+1)*step - offset)` of Unix time, in nanoseconds. */
export interface BucketArgs {
  readonly stepNs: bigint;
  readonly offsetNs: bigint;
}

/** The common arguments of the select endpoints, read and checked (docs/protocol/victorialogs.md#arguments-of-select). */
export interface QueryArgs {
  /** The query as written, without the filters that arguments add. */
  readonly original: EmbeddedQuery;
  /** The query to run; endpoints add their own pipes. */
  readonly job: QueryJob;
  /** The range of the `start` and `end` arguments, widened to whole buckets when there is a step; `endNs` is exclusive. */
  readonly startNs: bigint | undefined;
  readonly endNs: bigint | undefined;
  readonly buckets: BucketArgs | undefined;
}

/** Reads the arguments; throws HTTP 400 with the real server's texts. */
export function readQueryArgs(ctx: Context): QueryArgs {
  const { args, nowNs } = ctx;
  const startArg = parseTimeArg('start', args.get('start'), nowNs);
  const endArg = parseTimeArg('end', args.get('end'), nowNs);
  const timeArg = parseTimeArg('time', args.get('time'), nowNs);
  const buckets = readBuckets(ctx);
  const startNs = startArg === undefined || buckets === undefined ? startArg : bucketStart(startArg, buckets);
  const endNs = endArg === undefined || buckets === undefined ? endArg : bucketEnd(endArg, buckets);
  const evalNs = timeArg ?? (endArg === undefined ? nowNs : endArg - 1n);

  const text = args.get('query');
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_QUERY_BYTES) {
    throw badRequest(
      `the \`query\` arg length cannot exceed -search.maxQueryLen=${MAX_QUERY_BYTES} bytes; ` +
        `the current query length is ${bytes} bytes; query=${text}`,
    );
  }
  const parsed = parseQueryArg(text);
  const original = args.bool('ignore_pipes') ? { ...parsed, pipes: [] } : parsed;
  args.bool('allow_partial_response');
  const extra = [
    ...args.all('extra_stream_filters').map((item) => parseExtraStreamFilter(item)),
    ...args.all('extra_filters').map((item) => parseExtraFilter(item)),
  ];
  const query = restrictQuery(original, timeFilter(startNs, endNs), extra);
  return {
    original,
    job: {
      tenant: ctx.tenant,
      query,
      evalNs,
      hidden: readHidden(args.get('hidden_fields_filters')),
      ...rates(ctx, startNs, endNs),
    },
    startNs,
    endNs,
    buckets,
  };
}

/** The divisor of `rate()` without buckets, and the timeout of the query. */
function rates(
  ctx: Context,
  startNs: bigint | undefined,
  endNs: bigint | undefined,
): { rangeNs: bigint | undefined; limitMs: number } {
  const rangeNs =
    startNs === undefined || endNs === undefined || endNs <= startNs ? undefined : endNs - startNs;
  return { rangeNs, limitMs: readTimeout(ctx) };
}

function readTimeout(ctx: Context): number {
  const limit = ctx.backend.settings.maxQueryDurationMs;
  const text = ctx.args.get('timeout');
  if (text === '') return limit;
  const ns = parseDurationNs(text);
  if (ns === undefined) throw badRequest(`cannot parse duration at 'timeout=${text}' arg`);
  return Math.min(limit, Math.max(0, Number(ns) / 1e6));
}

function readBuckets(ctx: Context): BucketArgs | undefined {
  const text = ctx.args.get('step');
  if (text === '') return undefined;
  const stepNs = parseDurationNs(text);
  if (stepNs === undefined) throw badRequest(`cannot parse duration from the arg 'step=${text}'`);
  if (stepNs <= 0n) throw badRequest("'step' must be bigger than zero");
  return { stepNs, offsetNs: isRowsEndpoint(ctx) ? 0n : readOffset(ctx) };
}

/** On `/query` the offset argument counts rows; elsewhere it shifts buckets. */
function isRowsEndpoint(ctx: Context): boolean {
  return ctx.path.endsWith('/query');
}

function readOffset(ctx: Context): bigint {
  const text = ctx.args.get('offset');
  if (text === '') return 0n;
  const ns = parseDurationNs(text);
  if (ns === undefined) throw badRequest(`cannot parse duration from the arg 'offset=${text}'`);
  return ns;
}

/** The buckets of an endpoint that requires them. */
export function requireBuckets(args: QueryArgs): BucketArgs {
  if (args.buckets === undefined) throw badRequest("cannot parse duration from the arg 'step='");
  return args.buckets;
}

/** Start of the bucket that contains `ns`. */
export function bucketStart(ns: bigint, { stepNs, offsetNs }: BucketArgs): bigint {
  return bucketFloor(ns, stepNs, offsetNs);
}

/** First bucket boundary at or after `ns`. */
function bucketEnd(ns: bigint, buckets: BucketArgs): bigint {
  const start = bucketStart(ns, buckets);
  return start === ns ? ns : start + buckets.stepNs;
}

function timeFilter(startNs: bigint | undefined, endNs: bigint | undefined): LogsqlFilter | undefined {
  if (startNs === undefined && endNs === undefined) return undefined;
  return { kind: 'time', min: startNs ?? MIN_NS, max: (endNs ?? MAX_NS + 1n) - 1n };
}

function readHidden(text: string): readonly FieldRef[] {
  if (!text.startsWith('['))
    return text
      .split(',')
      .filter((item) => item !== '')
      .map(fieldOf);
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    list = undefined;
  }
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) {
    throw badRequest(`cannot parse hidden_fields_filters=${text} as a JSON array of strings`);
  }
  return list.map(fieldOf);
}
