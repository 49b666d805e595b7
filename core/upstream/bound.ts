import type { TimeRange } from '../api/request.js';
import { printFilter, printQuery } from '../logsql/print.js';
import { formatTime } from '../logsql/time.js';
import type { LogsqlFilter, LogsqlQuery } from '../logsql/ast.js';
import { and, timeRange } from '../logsql/build.js';
import type { Trace } from '../telemetry/trace.js';
import type { BackendAnswer, BackendClient } from './client.js';
import { ApiError } from '../errors/api-error.js';
import { decodeListing, decodeStats } from './decode.js';
import type { StatusRule } from './failures.js';
import { runDeletion } from './deletion.js';
import { readRows } from './ndjson.js';
import {
  decodeStatsRange,
  rangeParameters,
  type BackendSeries,
  type StatsRangeRequest,
} from './stats-range.js';
import type {
  BackendRow,
  BackendSample,
  BackendValue,
  Deletion,
  DeletionRequest,
  ListingRequest,
  RowsRequest,
  StatsRequest,
  TailRowsRequest,
  Upstream,
} from './types.js';

/** What binds backend calls to one exchange. */
export interface Binding {
  readonly signal: AbortSignal;
  readonly trace: Trace;
  readonly headers: Readonly<Record<string, string>>;
  /** Parameters of every call, such as the tenant's stream filter. */
  readonly parameters: readonly (readonly [string, string])[];
  /** The tenant's rows, where such parameters are not taken. */
  readonly scope: LogsqlFilter;
}

type Form = readonly (readonly [string, string])[];

/** The backend as one exchange sees it. */
export class BoundUpstream implements Upstream {
  readonly #client: BackendClient;
  readonly #binding: Binding;

  constructor(client: BackendClient, binding: Binding) {
    this.#client = client;
    this.#binding = binding;
  }

  async *rows(request: RowsRequest): AsyncGenerator<readonly BackendRow[]> {
    const limit: Form = request.newest === undefined ? [] : [['limit', String(request.newest)]];
    const count = { rows: 0, bytes: 0, status: 0 };
    const end = this.#begin('query', count);
    try {
      const answer = await this.#send('query', this.#form(request, limit), 'keep');
      count.status = answer.status;
      for await (const batch of readRows(counted(answer.chunks(), count))) {
        count.rows += batch.length;
        yield batch;
      }
    } catch (error) {
      if (error instanceof ApiError && count.status === 0) count.status = statusOf(error);
      throw error;
    } finally {
      end();
    }
  }

  async list(request: ListingRequest): Promise<readonly BackendValue[]> {
    const field: Form = request.field === undefined ? [] : [['field', request.field]];
    const text = await this.#collect(request.listing, this.#form(request, field), 'gateway');
    return decodeListing(text);
  }

  async stats(request: StatsRequest): Promise<readonly BackendSample[]> {
    return decodeStats(await this.#collect('stats_query', this.#form(request, []), 'keep'));
  }

  async tail(request: TailRowsRequest): Promise<AsyncIterable<readonly BackendRow[]>> {
    const form: Form = [
      ['query', printQuery(request.query)],
      ['start_offset', `${request.startOffsetMs}ms`],
      ['offset', `${request.offsetNs / 1_000_000n}ms`],
      ['refresh_interval', `${request.refreshMs}ms`],
      ...this.#binding.parameters,
    ];
    const count = { rows: 0, bytes: 0, status: 0 };
    const end = this.#begin('tail', count);
    try {
      const answer = await this.#send('tail', form, 'keep', request.openTimeoutMs);
      count.status = answer.status;
      return readRows(answer.chunks());
    } catch (error) {
      if (error instanceof ApiError) count.status = statusOf(error);
      throw error;
    } finally {
      end();
    }
  }

  deletion({ filter, range }: DeletionRequest): Deletion {
    const { startNs, endNs } = range;
    const logsql = printFilter(and(timeRange(startNs, endNs), this.#binding.scope, filter));
    const times: Form = [
      ['start', timeText(startNs)],
      ['end', timeText(endNs)],
    ];
    const post = (path: string, form: Form): Promise<string> => this.#collect(path, form, 'keep');
    return { logsql, run: () => runDeletion(logsql, times, post) };
  }

  async statsRange(request: StatsRangeRequest): Promise<readonly BackendSeries[]> {
    const form = this.#form(request, rangeParameters(request));
    return decodeStatsRange(await this.#collect('stats_query_range', form, 'keep'));
  }

  async #collect(type: string, form: Form, statusRule: StatusRule): Promise<string> {
    const count = { rows: 0, bytes: 0, status: 0 };
    const end = this.#begin(type, count);
    try {
      const answer = await this.#send(type, form, statusRule);
      count.status = answer.status;
      const text = await answer.text();
      count.bytes = text.length;
      return text;
    } catch (error) {
      if (error instanceof ApiError && count.status === 0) count.status = statusOf(error);
      throw error;
    } finally {
      end();
    }
  }

  /** `type` is a path, or the name of an endpoint that reads. */
  #send(type: string, form: Form, statusRule: StatusRule, liveWithinMs?: number): Promise<BackendAnswer> {
    const { headers, signal } = this.#binding;
    return this.#client.call({
      path: type.startsWith('/') ? type : `/select/logsql/${type}`,
      method: 'POST',
      form,
      headers,
      signal,
      statusRule,
      ...(liveWithinMs === undefined ? {} : { liveWithinMs }),
    });
  }

  #form(request: { readonly query: LogsqlQuery; readonly range: TimeRange }, more: Form): Form {
    return [
      ['query', printQuery(request.query)],
      ['start', timeText(request.range.startNs)],
      ['end', timeText(request.range.endNs)],
      ...more,
      ...this.#binding.parameters,
    ];
  }

  #begin(
    type: string,
    count: { readonly rows: number; readonly bytes: number; readonly status: number },
  ): () => void {
    const startedAt = performance.now();
    return () => {
      const { trace } = this.#binding;
      if (!trace.isWritten)
        trace.upstreamCalls.push({
          type: type.slice(type.lastIndexOf('/') + 1),
          ...count,
          durationMs: performance.now() - startedAt,
        });
    };
  }
}

// The backend guesses the unit of a bare number from its size; below this a nanosecond count would be read as something else.
const firstPlainNs = 10n ** 18n;

function timeText(ns: bigint): string {
  return ns >= firstPlainNs ? ns.toString() : formatTime(ns, 9);
}

/** The backend's own status where it refused; 0 when there was no answer. */
function statusOf(error: ApiError): number {
  return error.cause instanceof Error && error.entry.text === '{cause}' ? error.status : 0;
}

async function* counted(chunks: AsyncIterable<Buffer>, count: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count.bytes += chunk.length;
    yield chunk;
  }
}
