import { parseDurationNs, printEmbeddedQuery, type RowView } from '../logsql/index.js';
import { JsonRowWriter } from '../engine/row-writer.js';
import { executeJob, type QueryJob } from '../engine/run.js';
import { keepsRowsInTime } from '../engine/time-order.js';
import type { Context } from '../http/context.js';
import { badRequest, HttpError } from '../http/errors.js';
import { Pacer } from '../../../core/base/pace/steps.js';
import { pause } from '../../../core/base/time/waits.js';
import { readQueryArgs } from './query-args.js';

/** Each poll starts this long before the end of the previous one, for rows that arrived late. */
const LOOK_BEHIND_NS = 5_000_000_000n;

/** `/select/logsql/tail`: rows as they arrive, by polling, with the real server's losses (docs/protocol/victorialogs.md#backend-tail). */
export async function tail(ctx: Context): Promise<void> {
  const { original, job } = readQueryArgs(ctx);
  // A projection that drops `_time` is only detected at its first row; all other invalid pipes are detected here.
  if (
    !original.pipes.every(
      (pipe) =>
        keepsRowsInTime(pipe) || ['fields', 'delete', 'unpack_json', 'unpack_logfmt'].includes(pipe.kind),
    )
  ) {
    throw badRequest(
      `the query [${printEmbeddedQuery(original)}] cannot be used in live tailing; ` +
        'see https://docs.victoriametrics.com/victorialogs/querying/#live-tailing for details',
    );
  }
  const refreshNs = durationArg(ctx, 'refresh_interval', 1_000_000_000n);
  if (refreshNs <= 0n) throw badRequest("'refresh_interval' must be bigger than zero");
  const offsetNs = durationArg(ctx, 'offset', 5_000_000_000n);
  const startOffsetNs = durationArg(ctx, 'start_offset', 5_000_000_000n);

  ctx.out.begin(200, 'application/x-ndjson');
  if (!/\bgzip\b/.test(ctx.req.headers['accept-encoding'] ?? '')) ctx.out.sendHeadersPlain();
  const follower = new Follower(ctx, job);
  let startNs = ctx.nowNs - startOffsetNs;
  // After a late turn of the event loop, many tails poll at the same time; this gives requests their turns between them.
  const pacer = new Pacer();
  const { store } = ctx.backend;
  let [seenRows, seenNs] = [-1, 0n];
  while (!ctx.signal.aborted) {
    await pacer.due();
    const endNs = ctx.backend.settings.nowNs() - offsetNs;
    const { rowsIngested, newestNs = endNs } = store;
    // New rows are impossible unless rows have arrived since, or a row was in the future at the last poll.
    if (rowsIngested !== seenRows || newestNs > seenNs) await follower.poll(startNs, endNs);
    [seenRows, seenNs] = [rowsIngested, endNs];
    startNs =
      endNs - LOOK_BEHIND_NS > ctx.nowNs - startOffsetNs ? endNs - LOOK_BEHIND_NS : ctx.nowNs - startOffsetNs;
    await pause(Number(refreshNs / 1_000_000n), ctx.signal);
  }
}

/** Remembers the rows that each stream has sent, so that rows in the overlap of two polls are sent once. */
class Follower {
  readonly #ctx: Context;
  readonly #job: QueryJob;
  readonly #writer: JsonRowWriter;
  readonly #seen = new Map<string, bigint>();

  constructor(ctx: Context, job: QueryJob) {
    this.#ctx = ctx;
    this.#job = job;
    this.#writer = new JsonRowWriter(ctx.out, ctx.fault);
  }

  async poll(startNs: bigint, endNs: bigint): Promise<void> {
    const { query } = this.#job;
    const range = { kind: 'time', min: startNs, max: endNs } as const;
    const filter = { kind: 'and', parts: [range, query.filter] } as const;
    const byTime = {
      kind: 'sort',
      by: [{ field: '_time', desc: false }],
      desc: false,
      partitionBy: [],
    } as const;
    const batch: RowView[] = [];
    const job: QueryJob = {
      ...this.#job,
      query: { ...query, filter, pipes: [byTime, ...query.pipes] },
      evalNs: endNs,
      limitMs: Infinity,
    };
    await executeJob(this.#ctx, job, {
      push(row: RowView): boolean {
        batch.push(row);
        return true;
      },
    });
    const newest = new Map<string, bigint>();
    for (const row of batch) {
      if (row.get('_time') === '')
        throw new HttpError(400, 'missing _time field in the results of the tailed query');
      const stream = row.get('_stream_id');
      const seen = this.#seen.get(stream);
      if (seen !== undefined && row.timeNs <= seen) continue;
      newest.set(stream, row.timeNs);
      this.#writer.push(row);
    }
    for (const [stream, timeNs] of newest) this.#seen.set(stream, timeNs);
    await this.#writer.drain();
    await this.#ctx.out.flush();
  }
}

function durationArg(ctx: Context, name: string, fallback: bigint): bigint {
  const text = ctx.args.get(name);
  if (text === '') return fallback;
  const ns = parseDurationNs(text);
  if (ns === undefined) throw badRequest(`cannot parse duration from the arg '${name}=${text}'`);
  return ns;
}
