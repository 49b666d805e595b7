import {
  compileFilter,
  listTest,
  LogsqlError,
  type EmbeddedQuery,
  type FieldRef,
  MemoryBudgetError,
  printEmbeddedQuery,
  type RowView,
} from '../logsql/index.js';
import type { Context } from '../http/context.js';
import { badRequest, ClientGoneError, QueryTimeoutError } from '../http/errors.js';
import type { TimeRange } from '../store/scan.js';
import { scan } from '../store/scan.js';
import type { TenantId } from '../store/stream-tags.js';
import { chainPipes } from './chain.js';
import { pruneFilter } from './prune.js';
import { HidingRow, rowAt, shifted } from './stored-row.js';
import { mapSubqueries, subqueriesOf } from './subqueries.js';
import { pullOrder } from './time-order.js';

/** Maximum time without a turn for other requests, in milliseconds. */
const TURN_MS = 8;
/** All queries are equal, so they run in order of arrival. */
const everyone = [''];

/** A query with everything that its result depends on. */
export interface QueryJob {
  readonly tenant: TenantId;
  readonly query: EmbeddedQuery;
  /** The evaluation time, to which relative times and `now` refer. */
  readonly evalNs: bigint;
  /** Fields that appear to be missing. */
  readonly hidden: readonly FieldRef[];
  /** Length of the time range, the divisor of `rate()`; undefined for an open range. */
  readonly rangeNs: bigint | undefined;
  /** Timeout in milliseconds. */
  readonly limitMs: number;
}

/** Receives result rows. `push` returns false if it needs no more; `drain`, if any, resolves when it can receive more rows. */
export interface RowConsumer {
  push(row: RowView): boolean;
  drain?(): Promise<void>;
}

/**
 * Runs a query with the concurrency limit and the timeout. Rejects with `QueryTimeoutError`, `ClientGoneError`, or HTTP 400 for errors of
 * the query itself.
 */
export async function runJob(ctx: Context, job: QueryJob, consumer: RowConsumer): Promise<void> {
  const { counters, queries } = ctx.backend;
  const permit = await queries.enter(everyone, ctx.signal);
  counters.queriesInFlight++;
  try {
    await executeJob(ctx, job, consumer);
  } catch (error) {
    if (error instanceof ClientGoneError) counters.abortedQueries++;
    throw error;
  } finally {
    counters.queriesInFlight--;
    permit.leave();
  }
}

/** Like `runJob`, without counting as a concurrent query: for live tails and subqueries. */
export async function executeJob(ctx: Context, job: QueryJob, consumer: RowConsumer): Promise<void> {
  try {
    const startedMs = Date.now();
    for (const query of united(job.query)) await execute(ctx, { ...job, query }, consumer, startedMs);
  } catch (error) {
    if (error instanceof MemoryBudgetError) {
      throw badRequest(`cannot execute query [${printEmbeddedQuery(job.query)}]: ${error.message}`);
    }
    if (error instanceof LogsqlError) throw badRequest(error.message);
    throw error;
  }
}

/** The queries that a query unites, in order: the query itself, and those of its `union` pipes. */
function united(query: EmbeddedQuery): readonly EmbeddedQuery[] {
  const at = query.pipes.findIndex(({ kind }) => kind === 'union');
  if (at < 0) return [query];
  const others = query.pipes.slice(at).flatMap((pipe) => {
    if (pipe.kind !== 'union') throw new LogsqlError(`'${pipe.kind}' cannot follow 'union' here`);
    return united(pipe.query);
  });
  return [{ ...query, pipes: query.pipes.slice(0, at) }, ...others];
}

async function execute(ctx: Context, job: QueryJob, consumer: RowConsumer, startedMs: number): Promise<void> {
  const { backend, signal } = ctx;
  const query = await resolveSubqueries(ctx, job, startedMs);
  const shiftNs = query.options?.timeOffset ?? 0n;
  const { range, matchesStream, rowFilter } = pruneFilter(query.filter, job.evalNs);
  const { order, pipes } = pullOrder(query.pipes);
  const matches = rowFilter.kind === 'all' ? undefined : compileFilter(rowFilter, { nowNs: job.evalNs });
  const chain = chainPipes(pipes, (row) => consumer.push(row), { nowNs: job.evalNs, rangeNs: job.rangeNs });
  const streams = backend.store.streams(job.tenant).filter((stream) => matchesStream(stream.tags));

  let turnMs = Date.now();
  const takeTurn = async (): Promise<void> => {
    const nowMs = Date.now();
    if (signal.aborted) throw new ClientGoneError();
    if (nowMs - startedMs > job.limitMs) throw new QueryTimeoutError(job.limitMs);
    if (nowMs - turnMs < TURN_MS) return;
    await new Promise(setImmediate);
    turnMs = Date.now();
  };

  let wantsMore = true;
  for (const { stream, view, from, to, step } of scan(streams, shiftRange(range, shiftNs), order)) {
    let i = from;
    for (; i !== to && wantsMore; i += step) {
      const stored = rowAt(stream, view, i);
      if (stored === undefined) continue;
      let row: RowView = shiftNs === 0n ? stored : shifted(stored, shiftNs);
      if (job.hidden.length > 0) row = new HidingRow(row, job.hidden);
      if (matches === undefined || matches(row)) wantsMore = chain.push(row);
    }
    backend.counters.rowsRead += Math.abs(i - from);
    await takeTurn();
    await consumer.drain?.();
    if (!wantsMore) break;
  }
  chain.finish();
  await takeTurn();
  await consumer.drain?.();
}

function shiftRange(range: TimeRange, shiftNs: bigint): TimeRange {
  return shiftNs === 0n ? range : { minNs: range.minNs - shiftNs, maxNs: range.maxNs - shiftNs };
}

/** Runs the subqueries of `in(...)` and the like, and replaces them by their results. */
async function resolveSubqueries(ctx: Context, job: QueryJob, startedMs: number): Promise<EmbeddedQuery> {
  const results = new Map<EmbeddedQuery, string[]>();
  for (const test of subqueriesOf(job.query)) {
    const values = new Set<string>();
    const inner: QueryJob = { ...job, query: test.query };
    const consumer: RowConsumer = {
      push(row) {
        let last = '';
        for (const name of row.fieldNames()) last = row.get(name);
        values.add(last);
        return true;
      },
    };
    await execute(ctx, inner, consumer, startedMs);
    results.set(test.query, [...values]);
  }
  if (results.size === 0) return job.query;
  return mapSubqueries(job.query, (test) => listTest(test.test, results.get(test.query) ?? []));
}
