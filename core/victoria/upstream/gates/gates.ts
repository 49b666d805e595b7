import { type WaitBudget, once, untilAborted, sleep } from '../../../base/time/waits.js';
import { type Permit, withoutPermit } from '../../../base/admission/fair-queue.js';
import { ApiError } from '../../../base/errors/api-error.js';
import { isWithin } from '../../../base/order.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlPipe } from '../../logsql/ast.js';
import type { CallGate } from '../gate.js';
import type { ListingRequest, RowsRequest, StatsRangeRequest, StatsRequest } from '../types.js';
import type { EnterHeavy, EnterPaced } from './call-gates.js';
import type { ScanGate } from './scan-gate.js';
import { scanClass, type ScanOutcome } from './scan-limit.js';

export interface GatesOptions {
  readonly heavy: EnterHeavy;
  readonly scans: ScanGate;
  /** Gate for statistics over time. */
  readonly statistics: CallGate;
  /** Additional gate for statistics of Logs Drilldown, which sends many at once. */
  readonly paced: EnterPaced;
  /** Tracks the calls that clients wait for. */
  readonly waited: WaitedCalls;
  /** Queries over ranges shorter than this are never heavy. */
  readonly minRangeMs: number;
  /** Maximum total wait of the calls of one request. */
  readonly queueWaitMs: number;
  readonly nowMs: () => number;
}

export interface GateOwner {
  /** The owner of the data, for fair queueing. */
  readonly owner: readonly string[];
  readonly isDrilldown: boolean;
  /** Set for calls that no client waits for. */
  readonly isBackground?: boolean;
  /** Set for calls that yield to others (Caller.yields). */
  readonly yields?: boolean;
  readonly signal: AbortSignal;
  /** The request's remaining wait, shared by all of its parts. */
  readonly budget: WaitBudget;
  /** The request's own permit, released while a call waits at a gate; undefined without a guard. */
  readonly permit?: Permit | undefined;
}

/** Permission for one call. `signal` is the call's signal; `leave` must be called once the answer has been read or has failed. */
export interface CallPass {
  readonly signal: AbortSignal;
  readonly leave: (error: unknown, rows: number) => void;
}

/** One permit for all heavy calls about a range, however many there are. The first of them takes it. */
class SharedPermit {
  readonly range: TimeRange;
  readonly #enter: () => Promise<CallPass>;
  #entered: Promise<CallPass> | undefined;
  #holders = 0;

  constructor(range: TimeRange, enter: () => Promise<CallPass>) {
    this.range = range;
    this.#enter = enter;
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** @returns a function that releases the permit when all holders have called theirs */
  hold(): () => void {
    this.#holders += 1;
    return once(() => {
      this.#holders -= 1;
      if (!this.isHeld) void this.#entered?.then(({ leave }) => leave(undefined, 0), nothing);
    });
  }

  async enter(): Promise<void> {
    await (this.#entered ??= this.#enter());
  }
}

const lookEveryMs = 50;
/** Maximum number of yielding calls that run at once: a client's call that begins meanwhile shares the backend with them until they end. */
const maxYielding = 2;

/** Counts the calls that clients wait for, so that others can yield to them. */
export class WaitedCalls {
  readonly #maxYieldMs: number;
  #running = 0;
  #yielding = 0;

  /** @param maxMs maximum time for which a call yields to others */
  constructor(maxMs = 10_000) {
    this.#maxYieldMs = maxMs;
  }

  /** @returns a function that ends the call */
  begin(): () => void {
    this.#running += 1;
    return () => {
      this.#running -= 1;
    };
  }

  /**
   * Waits until no call of a client and at most one yielding call is running, or the maximum time has passed.
   * @returns a function that ends the yielding call
   * @throws the reason of the signal
   */
  async yield(signal: AbortSignal): Promise<() => void> {
    const untilMs = performance.now() + this.#maxYieldMs;
    while ((this.#running > 0 || this.#yielding >= maxYielding) && performance.now() < untilMs) {
      await sleep(lookEveryMs);
      signal.throwIfAborted();
    }
    this.#yielding += 1;
    return () => {
      this.#yielding -= 1;
    };
  }
}

export class ExchangeGates {
  readonly #options: GatesOptions;
  readonly #owner: GateOwner;
  readonly #held: Set<SharedPermit>;

  constructor(options: GatesOptions, owner: GateOwner, of?: ExchangeGates) {
    this.#options = options;
    this.#owner = owner;
    this.#held = of === undefined ? new Set() : of.#held;
  }

  /** Called before the first call of a request about this range, to request whatever a gate must know in the meantime. */
  expect(range: TimeRange): void {
    if (isLong(range, this.#options.minRangeMs)) this.#options.scans.expect();
  }

  /** The same gates for calls with their own abort signal. */
  until(signal: AbortSignal): ExchangeGates {
    return new ExchangeGates(this.#options, { ...this.#owner, signal }, this);
  }

  rows(request: RowsRequest): Promise<CallPass> {
    return this.#inTurn(() => {
      const isHeavy = isHeavyRows(request, this.#options.minRangeMs) && request.isPreflight !== true;
      return isHeavy ? this.#heavyIn(request.range) : this.#free();
    });
  }

  stats({ range, isPreflight }: StatsRequest): Promise<CallPass> {
    return this.#inTurn(() => {
      const isHeavy = isLong(range, this.#options.minRangeMs) && isPreflight !== true;
      return isHeavy ? this.#heavyIn(range) : this.#free();
    });
  }

  statsRange(request: StatsRangeRequest): Promise<CallPass> {
    return this.#inTurn(() => this.#statsRange(request));
  }

  async #statsRange(request: StatsRangeRequest): Promise<CallPass> {
    const { paced, statistics, minRangeMs } = this.#options;
    const { isDrilldown, owner, signal } = this.#owner;
    const held: CallPass['leave'][] = [];
    const leave: CallPass['leave'] = (error, rows) => {
      for (const each of held.reverse()) each(error, rows);
    };
    try {
      // First, as for a range whose permit is already held.
      if (isHeavyStatsRange(request, minRangeMs)) held.push((await this.#heavyIn(request.range)).leave);
      if (isDrilldown) held.push(await this.#waitFor(() => paced(signal)));
      // Last: a call with a permit here waits at no other gate, so requests cannot block each other in a circle.
      const permit = await this.#waitFor(() => statistics.enter(owner, signal));
      held.push(() => permit.leave());
      return { signal, leave };
    } catch (error) {
      leave(error, 0);
      throw error;
    }
  }

  listing(request: ListingRequest): Promise<CallPass> {
    return this.#inTurn(() => this.#listing(request));
  }

  async #listing({ listing, range }: ListingRequest): Promise<CallPass> {
    const { minRangeMs, scans } = this.#options;
    if (!isLong(range, minRangeMs)) return this.#free();
    const { owner, signal, budget, isBackground } = this.#owner;
    const lengthMs = Number((range.endNs - range.startNs) / 1_000_000n);
    const className = scanClass(listing, lengthMs, owner[0] ?? '');
    const pass = await this.#waitFor(() => scans.enter(className, owner, budget, signal, isBackground));
    return { signal: pass.signal, leave: (error, rows) => pass.leave(outcomeOf(error), rows) };
  }

  /**
   * Shares one permit among all heavy calls within this range until the returned function is called. A call could otherwise wait for the
   * permit of another one that is read together with it.
   */
  hold(range: TimeRange): () => void {
    const shared = this.#sharedBy(range) ?? new SharedPermit(range, () => this.#heavy());
    this.#held.add(shared);
    const leave = shared.hold();
    return () => {
      leave();
      if (!shared.isHeld) this.#held.delete(shared);
    };
  }

  #sharedBy(range: TimeRange): SharedPermit | undefined {
    return [...this.#held].find((held) => isWithin(range, held.range));
  }

  async #heavyIn(range: TimeRange): Promise<CallPass> {
    const shared = this.#sharedBy(range);
    if (shared === undefined) return this.#heavy();
    await untilAborted(shared.enter(), this.#owner.signal);
    return this.#free();
  }

  async #heavy(): Promise<CallPass> {
    const { owner, signal, budget, isBackground } = this.#owner;
    const { heavy } = this.#options;
    const enter = (): Promise<() => void> => heavy(owner, budget, signal, isBackground);
    return { signal, leave: await this.#waitFor(enter) };
  }

  /** Yields to calls that clients wait for, or registers as one of them. */
  async #inTurn(enter: () => Promise<CallPass>): Promise<CallPass> {
    const { waited } = this.#options;
    const { yields, signal } = this.#owner;
    if (yields !== true) return leaving(await enter(), waited.begin());
    const end = await waited.yield(signal);
    try {
      return leaving(await enter(), end);
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Waits at a gate. The request releases its own permit meanwhile. */
  #waitFor<Pass>(enter: () => Promise<Pass>): Promise<Pass> {
    return withoutPermit(this.#owner.permit, enter);
  }

  #free(): Promise<CallPass> {
    return Promise.resolve({ signal: this.#owner.signal, leave: nothing });
  }
}

const nothing = (): void => undefined;

/** The pass, which also ends a count when it is left. */
function leaving({ signal, leave }: CallPass, end: () => void): CallPass {
  return {
    signal,
    leave: (error, rows) => {
      end();
      leave(error, rows);
    },
  };
}

function outcomeOf(error: unknown): ScanOutcome {
  if (error === undefined) return 'done';
  return error instanceof ApiError && error.status >= 500 ? 'failed' : 'ended';
}

const manyRows = 10_000;
const manyBuckets = 11_000n;

/** True if a range is longer than the bound. */
function isLong({ startNs, endNs }: TimeRange, boundMs: number): boolean {
  return endNs - startNs > BigInt(Math.round(boundMs)) * 1_000_000n;
}

/** True if reading rows is a heavy query (docs/protocol/operation.md#heavy-queries-and-metadata-scans). */
export function isHeavyRows({ query, range, newest, lengthNs }: RowsRequest, boundMs: number): boolean {
  const limit = newest ?? rowLimit(query.pipes);
  if (limit !== undefined) return limit > manyRows;
  return isLong(lengthNs === undefined ? range : { startNs: 0n, endNs: lengthNs }, boundMs);
}

/** True if statistics over buckets are a heavy query. */
export function isHeavyStatsRange({ range, stepNs }: StatsRangeRequest, boundMs: number): boolean {
  const { startNs, endNs } = range;
  return isLong(range, boundMs) || (stepNs > 0n && (endNs - startNs) / stepNs > manyBuckets);
}

/** The least limit among the pipes; undefined if there is none. */
function rowLimit(pipes: readonly LogsqlPipe[]): number | undefined {
  const limits = pipes.flatMap((pipe) =>
    pipe.kind === 'sort' ? [pipe.limit] : pipe.kind === 'limit' ? [pipe.count] : [],
  );
  const least = Math.min(...limits.filter((limit) => limit > 0));
  return least === Infinity ? undefined : least;
}
