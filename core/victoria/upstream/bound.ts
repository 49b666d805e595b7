import { setMaxListeners } from 'node:events';
import type { Owner } from '../../base/admission/fair-queue.js';
import type { TimeRange } from '../../base/time/range.js';
import { printFilter } from '../logsql/print.js';
import type { LogsqlFilter, LogsqlQuery } from '../logsql/ast.js';
import { and, timeRange } from '../logsql/build.js';
import type { MemoryAccount, MemoryUse } from '../../base/memory/account.js';
import { atPace, Pacer, type Steps } from '../../base/pace/steps.js';
import type { CallTag, OpenSpan, Trace } from '../../base/trace.js';
import type { Waits } from '../../base/time/waits.js';
import type { BackendCall, BackendClient } from './client.js';
import { ApiError } from '../../base/errors/api-error.js';
import { decodeListing, decodeStats, decodeStatsRange } from './decode.js';
import { throwIfEnded } from './exchange.js';
import { queryOfBoth, readBoth, reading, RowContract, rowsOf } from './answer-rows.js';
import { beginCall, isPath, pathOf, queryParameters, rangeParameters, timeText } from './open-call.js';
import type { CallCount, OpenCall } from './open-call.js';
import { isLostNode, type StatusRule } from './failures.js';
import type { CallPass, ExchangeGates } from './gates/gates.js';
import { activeTasksPath, readActiveTasks, runDeletion } from './deletion.js';
import type {
  BackendSeries,
  StatsRangeRequest,
  BackendRow,
  BackendSample,
  BackendValue,
  Deletion,
  DeletionRequest,
  ListingRequest,
  RowsElsewhere,
  RowsReader,
  RowsRequest,
  StatsRequest,
  StreamsAndNames,
  TailRowsRequest,
  Upstream,
} from './types.js';

/** Ties backend calls to one exchange. */
export interface Binding {
  readonly signal: AbortSignal;
  readonly trace: Trace;
  /** The span of the calls. */
  readonly span?: OpenSpan | undefined;
  /** The purpose of the calls, for the trace. */
  readonly tag?: CallTag;
  readonly headers: Readonly<Record<string, string>>;
  /** The owner of the rows that the calls return. */
  readonly dataOwner: string;
  /** The owner of the calls for fair queueing: the tenant, one of its clients, one of its requests. */
  readonly owner?: Owner;
  /** Parameters of every call, such as the tenant's stream filter. */
  readonly parameters: readonly (readonly [string, string])[];
  /** A filter for the tenant's rows, for calls that do not take such parameters. */
  readonly scope: LogsqlFilter;
  /** Rows before this time are not read. */
  readonly oldestNs?: bigint;
  /** Gates that calls must pass; undefined for none. */
  readonly gates?: ExchangeGates;
  /** Charged for answers that are held in memory as a whole. */
  readonly memory?: MemoryAccount;
  /** Receives the time spent waiting for answers or reading them. */
  readonly waits?: Waits;
  /** Determines whether errors of the backend keep their status, whatever calls the request needs; `keep` by default. */
  readonly statusRule?: StatusRule;
  /** True if answers may lack the rows of storage nodes that a cluster cannot reach. */
  readonly mayBePartial?: boolean;
}

/** Amounts that a call has read so far. */
type OpenCount = { -readonly [Name in keyof CallCount]: CallCount[Name] };

type Enter = (gates: ExchangeGates) => Promise<CallPass>;
/** Makes a call, and reads its answer in parts. */
type PartsOf<Part> = (call: BackendCall, count: OpenCount) => AsyncIterable<Part>;

/** Time slice for reading rows; the readers of rows mostly pause by themselves, and more often. */
const rowsSliceMs = 20;

type Form = readonly (readonly [string, string])[];

/** The backend as one exchange sees it. */
export class BoundUpstream implements Upstream {
  readonly unites = true;
  readonly #client: BackendClient;
  readonly #binding: Binding;

  constructor(client: BackendClient, binding: Binding) {
    this.#client = client;
    this.#binding = binding;
    // Every open call listens for the end of its exchange; the client's gates bound their number.
    setMaxListeners(0, binding.signal);
  }

  get owner(): string {
    return this.#binding.dataOwner;
  }

  rows(request: RowsRequest): AsyncGenerator<readonly BackendRow[]> {
    return this.#rowsOf(request, this.#read(request.query));
  }

  #read(asked: LogsqlQuery): PartsOf<readonly BackendRow[]> {
    const client = this.#client;
    return async function* (call, count) {
      const answer = await client.call(call);
      count.status = answer.status;
      yield* rowsOf(answer, asked, count);
    };
  }

  rowsBy(request: RowsRequest, read: RowsReader): AsyncGenerator<RowsElsewhere> {
    const client = this.#client;
    return this.#rowsOf(request, async function* (call, count) {
      for await (const part of client.callBy(call, read)) {
        count.status = 200;
        count.bytes += part.bytes;
        yield part;
      }
    });
  }

  /** Makes a call for rows, and yields to other work between parts. */
  async *#rowsOf<Part extends { readonly length: number }>(
    request: RowsRequest,
    partsOf: PartsOf<Part>,
    enter: Enter = (gates) => gates.rows(request),
  ): AsyncGenerator<Part> {
    const limit: Form = request.newest === undefined ? [] : [['limit', String(request.newest)]];
    const count = { rows: 0, bytes: 0, status: 0 };
    const { waits } = this.#binding;
    const pass = await this.#pass(enter);
    const call = beginCall('query', this.#binding, count);
    let failure: unknown;
    try {
      const pacer = new Pacer(pass.signal, rowsSliceMs);
      for await (const part of partsOf(this.#callOf(call, this.#form(request, limit), pass.signal), count)) {
        count.rows += part.length;
        // Until it asks for more, the reader is working.
        waits?.end();
        try {
          yield part;
        } finally {
          waits?.begin();
        }
        // Chunks that have already arrived would all be read in one turn.
        const pause = pacer.due();
        if (pause !== undefined) await this.#untilEnd(pause);
      }
    } catch (error) {
      failure = error;
      if (error instanceof ApiError && count.status === 0) count.status = statusOf(error);
      throw error;
    } finally {
      pass.leave(failure, count.rows);
      call.end(failure);
    }
  }

  async list(request: ListingRequest): Promise<readonly BackendValue[]> {
    const field: Form = request.field === undefined ? [] : [['field', request.field]];
    return this.#gated(
      (gates) => gates.listing(request),
      async (signal) => this.#collect(request.listing, this.#form(request, field), signal, decodeListing),
    );
  }

  listBoth({ query: { filter }, range }: Omit<ListingRequest, 'listing'>): Promise<StreamsAndNames> {
    const asked = { query: queryOfBoth(filter), range };
    const enter: Enter = (gates) => gates.listing({ listing: 'streams', ...asked });
    return readBoth(this.#rowsOf(asked, this.#read(asked.query), enter), this.#binding.memory);
  }

  async stats(request: StatsRequest): Promise<readonly BackendSample[]> {
    const contract = new RowContract(request.query);
    return this.#gated(
      (gates) => gates.stats(request),
      async (signal) =>
        this.#collect('stats_query', this.#form(request, []), signal, function* (text) {
          const samples = yield* decodeStats(text);
          for (const { name, value } of samples) contract.checkColumn(name, [value]);
          return samples;
        }),
    );
  }

  async tail(request: TailRowsRequest): Promise<AsyncIterable<readonly BackendRow[]>> {
    const form: Form = [
      ...queryParameters(request.query),
      ['start_offset', `${request.startOffsetMs}ms`],
      ['offset', `${request.offsetNs / 1_000_000n}ms`],
      ['refresh_interval', `${request.refreshMs}ms`],
      ...this.#everyCall(),
    ];
    return this.#recorded('tail', async (call, count) => {
      const { signal } = this.#binding;
      const answer = await this.#client.call(this.#callOf(call, form, signal, request.openTimeoutMs));
      count.status = answer.status;
      return rowsOf(answer, request.query, count);
    });
  }

  deletion({ filter, range }: DeletionRequest): Deletion {
    const logsql = printFilter(and(timeRange(range), this.#binding.scope, filter));
    const times: Form = [
      ['start', timeText(range.startNs)],
      ['end', timeText(range.endNs)],
    ];
    const { signal } = this.#binding;
    const post = (path: string, form: Form): Promise<string> =>
      this.#collect(path, form, signal, function* (text) {
        yield;
        return text;
      });
    return { logsql, run: () => runDeletion(logsql, times, post) };
  }

  activeDeletions(): Promise<readonly string[]> {
    return this.#collect(activeTasksPath, [], this.#binding.signal, function* (text) {
      yield;
      return readActiveTasks(text);
    });
  }

  async statsRange(request: StatsRangeRequest): Promise<readonly BackendSeries[]> {
    const form = this.#form(request, rangeParameters(request));
    const contract = new RowContract(request.query);
    return this.#gated(
      (gates) => gates.statsRange(request),
      async (signal) =>
        this.#collect('stats_query_range', form, signal, function* (text, count) {
          const series = yield* decodeStatsRange(text);
          for (const { name, points } of series) {
            count.rows += points.length;
            contract.checkColumn(name, valuesOf(points));
            yield;
          }
          return series;
        }),
    );
  }

  hold(range: TimeRange): () => void {
    return this.#binding.gates?.hold(range) ?? (() => undefined);
  }

  until(signal: AbortSignal): Upstream {
    const both = AbortSignal.any([this.#binding.signal, signal]);
    const { gates } = this.#binding;
    const bound = gates === undefined ? {} : { gates: gates.until(both) };
    return new BoundUpstream(this.#client, { ...this.#binding, signal: both, ...bound });
  }

  taggedWith(tag: CallTag): Upstream {
    return new BoundUpstream(this.#client, { ...this.#binding, tag });
  }

  /** Makes a call after passing its gate. */
  async #gated<Value>(
    enter: Enter,
    call: (signal: AbortSignal) => Promise<readonly Value[]>,
  ): Promise<readonly Value[]> {
    const pass = await this.#pass(enter);
    let failure: unknown;
    let values: readonly Value[] = [];
    try {
      values = await call(pass.signal);
      return values;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      pass.leave(failure, values.length);
    }
  }

  async #pass(enter: Enter): Promise<CallPass> {
    const { gates, signal, waits } = this.#binding;
    if (gates === undefined) return { signal, leave: () => undefined };
    waits?.begin();
    try {
      return await this.#untilEnd(enter(gates));
    } finally {
      waits?.end();
    }
  }

  /** Waits at a gate; rejects if the exchange ends first. */
  async #untilEnd<Value>(waited: Promise<Value>): Promise<Value> {
    try {
      return await waited;
    } catch (error) {
      throwIfEnded(this.#binding.signal);
      throw error;
    }
  }

  #collect<Value>(
    type: string,
    form: Form,
    signal: AbortSignal,
    decode: (text: string, count: OpenCount) => Steps<Value>,
  ): Promise<Value> {
    return this.#recorded(type, async (call, count) => {
      const answer = await this.#client.call(this.#callOf(call, form, signal));
      count.status = answer.status;
      const text = await answer.text();
      count.bytes = text.length;
      // An answer is mostly text, and its values are slices of it.
      this.#binding.memory?.charge(text.length * 3, kindOf(type));
      return await atPace(reading(answer, decode(text, count), count), new Pacer(signal));
    });
  }

  /** Runs a call up to the end of `run`, and records it with the amounts that it has read by then. */
  async #recorded<Value>(
    type: string,
    run: (call: OpenCall, count: OpenCount) => Promise<Value>,
  ): Promise<Value> {
    const count = { rows: 0, bytes: 0, status: 0 };
    const call = beginCall(type, this.#binding, count);
    let failure: unknown;
    try {
      return await run(call, count);
    } catch (error) {
      failure = error;
      if (error instanceof ApiError && count.status === 0) count.status = statusOf(error);
      throw error;
    } finally {
      call.end(failure);
    }
  }

  #callOf(
    { type, headers: spanHeaders }: OpenCall,
    form: Form,
    signal: AbortSignal,
    liveWithinMs?: number,
  ): BackendCall {
    const { headers, owner, mayBePartial, statusRule = 'keep' } = this.#binding;
    return {
      path: pathOf(type),
      isJson: !isPath(type),
      method: 'POST',
      form,
      headers: spanHeaders === undefined ? headers : { ...headers, ...spanHeaders },
      signal,
      statusRule,
      ...(owner === undefined ? {} : { owner }),
      ...(mayBePartial === undefined ? {} : { mayBePartial }),
      ...(liveWithinMs === undefined ? {} : { liveWithinMs }),
    };
  }

  #form(request: { readonly query: LogsqlQuery; readonly range: TimeRange }, more: Form): Form {
    const { startNs, endNs } = request.range;
    const { oldestNs = startNs } = this.#binding;
    return [
      ...queryParameters(request.query),
      ['start', timeText(startNs < oldestNs ? oldestNs : startNs)],
      ['end', timeText(endNs < oldestNs ? oldestNs : endNs)],
      ...more,
      ...this.#everyCall(),
    ];
  }

  /**
   * Parameters of every query. A cluster may be configured to omit the rows of nodes that it cannot reach, which such an answer does not
   * show (docs/protocol/victorialogs.md#clusters).
   */
  #everyCall(): Form {
    const { mayBePartial = false, parameters } = this.#binding;
    return [['allow_partial_response', mayBePartial ? '1' : '0'], ...parameters];
  }
}

/** The backend's own status if it rejected the call; 0 if there was no answer. */
function statusOf(error: ApiError): number {
  return error.cause instanceof Error && (error.entry.text === '{cause}' || isLostNode(error))
    ? error.status
    : 0;
}

function* valuesOf(points: BackendSeries['points']): Generator<string> {
  for (const [, value] of points) yield value;
}

/** The kind of memory that an answer is charged to. */
function kindOf(type: string): MemoryUse {
  return type.startsWith('stats') ? 'statistics of the backend' : 'a listing of the backend';
}
