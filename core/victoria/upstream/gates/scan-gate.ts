import { apiError } from '../../../base/errors/table.js';
import { FairQueue, type Owner } from '../../../base/admission/fair-queue.js';
import type { BackendGauges, Gauges } from './gauges.js';
import { printGoMs } from '../../../base/time/index.js';
import type { OwnCallsView } from '../gate.js';
import { RunningScans, type RunningScan } from './running-scans.js';
import { ScanLimit, type ScanLimitOptions, type ScanOutcome } from './scan-limit.js';
import { type WaitBudget, sleep, startTimer } from '../../../base/time/waits.js';

export interface ScanGateOptions extends ScanLimitOptions {
  /** Share of the backend's memory that scans leave free. */
  readonly headroom: number;
  readonly queueWaitMs: number;
  readonly gauges: Gauges;
  /** Calls of this process; without it, only scans are known to be its own. */
  readonly own?: OwnCallsView;
  readonly nowMs: () => number;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  readonly onChange: (limit: number, running: number, waiting: number) => void;
  readonly onRefused: (reason: 'busy' | 'full' | 'stopped') => void;
}

/** Permission to scan. `signal` aborts with the reason if the scan is stopped; `leave` must always be called. */
export interface ScanPass {
  readonly signal: AbortSignal;
  readonly leave: (outcome: ScanOutcome, rows: number) => void;
}

const maxWaiting = 500;
const decisionAgeMs = 100;
/** Maximum age of gauges for scans that take little longer than reading the gauges. */
const quickDecisionAgeMs = 5_000;
const watchEveryMs = 250;
const brakeEveryMs = 500;
const jitterMs = 250;

/**
 * Limits concurrent long listings of labels on the backend by their effect: how slow they become, whether they fail, and their memory
 * (docs/protocol/operation.md#heavy-queries-and-metadata-scans). A ceiling of 0 means unlimited.
 */
export class ScanGate {
  readonly #options: ScanGateOptions;
  readonly #limit: ScanLimit;
  readonly #queue: FairQueue;
  readonly #scans: RunningScans;
  #watch: NodeJS.Timeout | undefined;
  #brakedAtMs = -Infinity;
  #last: BackendGauges | undefined;

  constructor(options: ScanGateOptions) {
    this.#options = options;
    this.#limit = new ScanLimit(options);
    this.#scans = new RunningScans(options);
    const { nowMs } = options;
    this.#queue = new FairQueue({ maxWaiting, refusal: (isFull) => this.#refusal(isFull), nowMs });
  }

  /**
   * Waits for a permit.
   * @param isBackground true if no client waits for the scan: it does not queue, and leaves a permit free for others
   * @throws ApiError `scansBusy`, `scanQueueFull`, or the reason of the signal
   */
  async enter(
    className: string,
    owner: Owner,
    budget: WaitBudget,
    signal: AbortSignal,
    isBackground = false,
  ): Promise<ScanPass> {
    const { ceiling, gauges, nowMs, random } = this.#options;
    if (ceiling === 0) return { signal, leave: () => undefined };
    const isQuick = this.#scans.isQuick(className);
    await this.#readGauges(isQuick ? quickDecisionAgeMs : decisionAgeMs);
    // Replicas that start a class without measurements at the same time must not all take the same free memory.
    if (this.#scans.hasUnknownCost(className) && this.#othersNow() > 0) {
      await sleep(random() * jitterMs);
      await this.#readGauges(decisionAgeMs);
    }
    signal.throwIfAborted();
    const admits = (): boolean => this.#queue.waiting === 0 && this.#admits(className, 0);
    // No scan is rejected because of outdated gauges.
    if (isQuick && !admits()) await this.#readGauges(decisionAgeMs);
    signal.throwIfAborted();
    const isFree = admits();
    if (isBackground && !(isFree && this.#queue.running + 1 < this.#limit.current))
      throw this.#refusal(false);
    if (isFree) {
      this.#queue.take(owner);
    } else {
      const waited = this.#queue.wait(owner, className, budget, signal);
      this.#notify();
      this.#keepWatch();
      await waited.finally(() => this.#notify());
    }
    const scan = this.#scans.begin(className, gauges.state, !isQuick);
    this.#notify();
    this.#keepWatch();
    let isOut = false;
    const leave = (outcome: ScanOutcome, rows: number): void => {
      if (isOut) return;
      isOut = true;
      const finished = this.#scans.finish(scan, scan.stop.signal.aborted ? 'ended' : outcome, rows);
      this.#limit.finish(finished, nowMs());
      this.#queue.release(owner);
      this.#admitWaiting();
      this.#notify();
    };
    return { signal: AbortSignal.any([signal, scan.stop.signal]), leave };
  }

  /** Reads the gauges in advance, because a scan is about to need them. */
  expect(): void {
    if (this.#options.ceiling > 0) void this.#readGauges(quickDecisionAgeMs);
  }

  #admits(className: string, waitedMs: number): boolean {
    const { gauges, floor } = this.#options;
    const { running } = this.#queue;
    const { state } = gauges;
    const limit = this.#limit.current;
    if (state.kind !== 'known') return state.kind === 'unknown' && running < limit;
    const { selects, capacity } = state.gauges;
    const others = this.#othersNow();
    const ownNow = Math.max(running, this.#options.own?.running ?? 0);
    // The gauges may still count calls of this process that have ended.
    if (selects !== undefined && capacity !== undefined && others + ownNow >= capacity) return false;
    const hasPermit = running + others < limit || (running < floor && running + others < (capacity ?? 0) / 4);
    return hasPermit && this.#scans.hasRoom(className, others, waitedMs, state.gauges);
  }

  /** Number of other queries running on the backend, as far as it reports them. */
  #othersNow(): number {
    const { state } = this.#options.gauges;
    const selects = state.kind === 'known' ? state.gauges.selects : undefined;
    return Math.max(0, (selects ?? 0) - Math.max(this.#queue.running, this.#options.own?.latePeak ?? 0));
  }

  #admitWaiting(): void {
    const now = this.#options.nowMs();
    while (this.#queue.admitNext(({ what, sinceMs }) => this.#admits(what, now - sinceMs)));
  }

  /** Reads the backend's gauges and updates the limit. */
  async #readGauges(maxAgeMs: number): Promise<void> {
    const { gauges, nowMs } = this.#options;
    const state = await gauges.fresh(maxAgeMs);
    if (state.kind !== 'known' || state.gauges === this.#last) return;
    const before = this.#last;
    this.#last = state.gauges;
    this.#scans.observe(state.gauges);
    if (before === undefined) return;
    const rose = (name: 'limitReached' | 'limitTimeouts'): boolean =>
      (state.gauges[name] ?? 0) > (before[name] ?? Infinity);
    if (rose('limitTimeouts')) this.#limit.timedOut(nowMs());
    else if (rose('limitReached')) this.#limit.reached(nowMs());
  }

  /** Polls the gauges while scans run or wait. */
  #keepWatch(): void {
    if (this.#watch !== undefined) return;
    this.#watch = startTimer(() => {
      this.#watch = undefined;
      if (this.#queue.running === 0 && this.#queue.waiting === 0) return;
      void this.#watchOnce();
    }, watchEveryMs).unref();
  }

  async #watchOnce(): Promise<void> {
    const isWaitedFor = this.#queue.waiting > 0;
    await this.#readGauges((isWaitedFor ? watchEveryMs : brakeEveryMs) - 1);
    this.#brake();
    this.#admitWaiting();
    this.#notify();
    this.#keepWatch();
  }

  /** Stops the youngest scan if the backend's memory use has gone too far into the headroom. */
  #brake(): void {
    const { nowMs, headroom, onRefused, gauges } = this.#options;
    const { state } = gauges;
    if (state.kind !== 'known' || nowMs() - this.#brakedAtMs < brakeEveryMs) return;
    const { memoryUsed = 0, memoryAvailable = Infinity } = state.gauges;
    if (memoryUsed <= memoryAvailable * (1 - (headroom * 2) / 3)) return;
    const youngest: RunningScan | undefined = this.#scans.youngest();
    if (youngest === undefined) return;
    this.#brakedAtMs = nowMs();
    onRefused('stopped');
    youngest.stop.abort(apiError('scansStopped', { limit: this.#options.ceiling, note: this.#note() }));
  }

  #refusal(isFull: boolean): Error {
    const { ceiling, onRefused, queueWaitMs } = this.#options;
    onRefused(isFull ? 'full' : 'busy');
    if (isFull) return apiError('scanQueueFull', { limit: ceiling, waiting: maxWaiting });
    return apiError('scansBusy', { limit: ceiling, note: this.#note(), wait: printGoMs(queueWaitMs) });
  }

  /** The reason why no more scans are admitted. */
  #note(): string {
    const { floor, headroom, gauges } = this.#options;
    const { state } = gauges;
    const parts = [
      `adaptive limit ${this.#limit.current}`,
      `floor -backend-min-concurrent-metadata-scans=${floor}`,
    ];
    if (state.kind === 'silent') parts.push('VictoriaLogs /metrics not answering');
    if (state.kind === 'known') {
      const { selects, capacity, memoryUsed, memoryAvailable } = state.gauges;
      if (selects !== undefined && capacity !== undefined)
        parts.push(`VictoriaLogs running ${selects} of ${capacity} selects`);
      if (memoryUsed !== undefined && memoryAvailable !== undefined && memoryAvailable > 0) {
        const percent = (bytes: number): number => Math.round((100 * bytes) / memoryAvailable);
        parts.push(
          `VictoriaLogs memory ${percent(memoryUsed)}% used with ${percent(this.#scans.reserved())}% reserved by this ` +
            `replica's scans against -backend-metadata-scan-memory-headroom=${headroom.toFixed(2)}`,
        );
      }
    }
    return parts.join(', ');
  }

  #notify(): void {
    this.#options.onChange(this.#limit.current, this.#queue.running, this.#queue.waiting);
  }
}
