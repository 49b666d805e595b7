import { ByteLru } from '../../../base/memory/byte-lru.js';
import type { BackendGauges, GaugesState } from './gauges.js';
import type { FinishedScan, ScanOutcome } from './scan-limit.js';

export interface RunningScan {
  readonly className: string;
  readonly startedAtMs: number;
  /** Stops the scan with an error for the client. */
  readonly stop: AbortController;
  readonly reserved: number;
  readonly usedAtStart: number | undefined;
  /** The largest increase of the backend's memory since the scan started, in bytes. */
  rise: number;
  /** Maximum number of concurrent scans since the scan started. */
  maxConcurrent: number;
}

export interface RunningScansOptions {
  readonly headroom: number;
  readonly nowMs: () => number;
  readonly random: () => number;
}

/** Time for which a class without measurements waits for an idle backend, plus up to as long again at random. */
const unknownCostWaitMs = 2_000;
const quickMs = 100;
const steadyForMs = 5_000;
const steadyShare = 0.02;

/** The running scans, and their memory on the backend. */
export class RunningScans {
  readonly #options: RunningScansOptions;
  readonly #costs: ScanCosts;
  readonly #running = new Set<RunningScan>();
  /** Recent readings of the memory in use. */
  #memoryReadings: { readonly atMs: number; readonly used: number }[] = [];

  constructor(options: RunningScansOptions) {
    this.#options = options;
    this.#costs = new ScanCosts(options.nowMs);
  }

  hasUnknownCost(className: string): boolean {
    return this.#costs.of(className) === undefined;
  }

  /** True if the latest scan of the class took hardly any time. */
  isQuick(className: string): boolean {
    return (this.#costs.of(className)?.durationMs ?? Infinity) < quickMs;
  }

  /** @param isCurrent true if the gauges were read just now, so that an increase of memory can be attributed to the scan */
  begin(className: string, state: GaugesState, isCurrent: boolean): RunningScan {
    const now = this.#options.nowMs();
    const { memoryUsed, memoryAvailable } = state.kind === 'known' ? state.gauges : noMemory;
    const scan: RunningScan = {
      className,
      startedAtMs: now,
      stop: new AbortController(),
      reserved: memoryAvailable === undefined ? 0 : this.#costs.bytesOf(className, memoryAvailable),
      usedAtStart: isCurrent ? memoryUsed : undefined,
      rise: 0,
      maxConcurrent: 0,
    };
    this.#running.add(scan);
    for (const each of this.#running) each.maxConcurrent = Math.max(each.maxConcurrent, this.#running.size);
    return scan;
  }

  finish(scan: RunningScan, outcome: ScanOutcome, rows: number): FinishedScan {
    const { className, startedAtMs, maxConcurrent } = scan;
    const durationMs = this.#options.nowMs() - startedAtMs;
    this.#running.delete(scan);
    // The increase caused by several scans is split evenly among them.
    if (outcome === 'done' && scan.usedAtStart !== undefined)
      this.#costs.measured(className, scan.rise / Math.max(1, maxConcurrent), durationMs);
    else if (outcome === 'done') this.#costs.took(className, durationMs);
    return { className, outcome, startedAtMs, durationMs, rows, maxConcurrent };
  }

  youngest(): RunningScan | undefined {
    return [...this.#running].filter(({ stop }) => !stop.signal.aborted).at(-1);
  }

  /** Records the backend's current memory. */
  observe({ memoryUsed }: BackendGauges): void {
    if (memoryUsed === undefined) return;
    const now = this.#options.nowMs();
    this.#memoryReadings = [
      ...this.#memoryReadings.filter(({ atMs }) => now - atMs <= 2 * steadyForMs),
      { atMs: now, used: memoryUsed },
    ];
    for (const scan of this.#running) {
      if (scan.usedAtStart !== undefined) scan.rise = Math.max(scan.rise, memoryUsed - scan.usedAtStart);
    }
  }

  /** Bytes reserved for running scans that do not show in the backend's memory yet. */
  reserved(): number {
    let bytes = 0;
    for (const { reserved, rise, maxConcurrent } of this.#running)
      bytes += Math.max(0, reserved - rise / Math.max(1, maxConcurrent));
    return bytes;
  }

  /** True if the backend has memory for one more scan; always true without memory gauges. */
  hasRoom(className: string, others: number, waitedMs: number, gauges: BackendGauges): boolean {
    const { memoryUsed, memoryAvailable } = gauges;
    if (memoryUsed === undefined || memoryAvailable === undefined) return true;
    const { headroom, random } = this.#options;
    const room = memoryAvailable * (1 - headroom) - memoryUsed;
    const cost = this.#costs.bytesOf(className, memoryAvailable);
    const needed = this.reserved() + (others + 1) * cost;
    if (!this.hasUnknownCost(className)) return needed <= room;
    if (this.#running.size === 0) return needed <= room;
    const isAlone = [...this.#running].every(({ className: other }) => !this.hasUnknownCost(other));
    const hasWaited = waitedMs >= unknownCostWaitMs + random() * unknownCostWaitMs;
    return isAlone && hasWaited && this.#isSteady(memoryAvailable) && needed <= room / 2;
  }

  #isSteady(available: number): boolean {
    const now = this.#options.nowMs();
    const recent = this.#memoryReadings
      .filter(({ atMs }) => now - atMs <= steadyForMs)
      .map(({ used }) => used);
    const isLong = this.#memoryReadings.some(({ atMs }) => now - atMs >= steadyForMs);
    return isLong && Math.max(...recent) - Math.min(...recent) <= available * steadyShare;
  }
}

const noMemory = { memoryUsed: undefined, memoryAvailable: undefined };

interface Cost {
  readonly bytes: number;
  /** Duration of the latest scan. */
  readonly durationMs: number;
}

const trustedMs = 3_600_000;
const unmeasuredShare = 0.1;
const minShare = 1 / 256;
const maxClasses = 1024;

/** Memory and time that scans of each class needed on the backend within the last hour. */
export class ScanCosts {
  readonly #costs: ByteLru<Cost>;

  constructor(nowMs: () => number) {
    const clock = { monotonicMs: nowMs };
    this.#costs = new ByteLru({ maxEntries: maxClasses, maxBytes: Infinity, clock });
  }

  /** The cost of the class; undefined if none was measured recently. */
  of(className: string): Cost | undefined {
    return this.#costs.peek(className);
  }

  /** Bytes to reserve for a scan. */
  bytesOf(className: string, available: number): number {
    const known = this.of(className);
    return known === undefined ? available * unmeasuredShare : Math.max(known.bytes, available * minShare);
  }

  /** Records how long a scan took. */
  took(className: string, durationMs: number): void {
    const known = this.of(className);
    if (known !== undefined)
      this.#costs.set(className, { ...known, durationMs }, 0, this.#costs.leftMs(className));
  }

  /** Records how much a scan needed; the largest one is reserved for. */
  measured(className: string, bytes: number, durationMs: number): void {
    const largest = Math.max(bytes, this.of(className)?.bytes ?? 0);
    this.#costs.set(className, { bytes: largest, durationMs }, 0, trustedMs);
  }
}
