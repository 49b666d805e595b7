/** The outcome of a scan: successful, a failure of the backend, or an end for unrelated reasons. */
export type ScanOutcome = 'done' | 'failed' | 'ended';

export interface FinishedScan {
  /** Endpoint, length of the range and tenant. */
  readonly className: string;
  readonly outcome: ScanOutcome;
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** Number of listed values, as a measure of how much was scanned. */
  readonly rows: number;
  /** Maximum number of concurrent scans of this replica during the scan, including it. */
  readonly maxConcurrent: number;
}

export interface ScanLimitOptions {
  readonly floor: number;
  readonly ceiling: number;
  /** Tolerated slowdown of a scan, as a factor of its time alone. */
  readonly tolerance: number;
}

const first = 2;
const maxClasses = 1024;
const reachedPauseMs = 5_000;
/** Shares of the difference by which a baseline rises; scans that ran alone are more reliable. */
const riseAlone = 0.3;
const riseConcurrent = 0.02;

/** An adaptive limit on concurrent scans (docs/protocol/operation.md#heavy-queries-and-metadata-scans). */
export class ScanLimit {
  readonly #options: ScanLimitOptions;
  /** Milliseconds per listed value without load, by class. */
  readonly #baselines = new Map<string, number>();
  #limit: number;
  #loweredAtMs = -Infinity;
  #reachedAtMs = -Infinity;

  constructor(options: ScanLimitOptions) {
    this.#options = options;
    this.#limit = Math.min(options.ceiling, Math.max(options.floor, first));
  }

  /** The current limit as a whole number. */
  get current(): number {
    return Math.floor(this.#limit);
  }

  /** Learns from a finished scan. */
  finish(scan: FinishedScan, nowMs: number): void {
    if (scan.outcome === 'failed') {
      this.#lower(0.5, nowMs);
      return;
    }
    if (scan.outcome === 'ended') return;
    const cost = scan.durationMs / Math.max(1, scan.rows);
    const baseline = this.#learn(scan.className, cost, scan.maxConcurrent === 1);
    const isSlow = scan.maxConcurrent > 1 && cost > baseline * this.#options.tolerance;
    // Scans that ran together were all slowed by the same load, so only one lowers the limit.
    if (isSlow && scan.startedAtMs > this.#loweredAtMs) this.#lower(0.8, nowMs);
    else if (!isSlow && scan.maxConcurrent >= this.current) this.#set(this.#limit + 1 / this.#limit);
  }

  /** Called when the backend rejected queries because all its slots were taken. */
  timedOut(nowMs: number): void {
    this.#lower(0.5, nowMs);
  }

  /** Called when the backend made queries wait for a slot. */
  reached(nowMs: number): void {
    if (nowMs - this.#reachedAtMs < reachedPauseMs) return;
    this.#reachedAtMs = nowMs;
    this.#lower(0.8, nowMs);
  }

  #learn(className: string, cost: number, wasAlone: boolean): number {
    const known = this.#baselines.get(className);
    const rise = wasAlone ? riseAlone : riseConcurrent;
    const baseline = known === undefined || cost < known ? cost : known + (cost - known) * rise;
    this.#baselines.delete(className);
    this.#baselines.set(className, baseline);
    const oldest = this.#baselines.keys().next();
    if (this.#baselines.size > maxClasses && oldest.done !== true) this.#baselines.delete(oldest.value);
    // Compares with the previous baseline.
    return known ?? baseline;
  }

  #lower(factor: number, nowMs: number): void {
    this.#loweredAtMs = nowMs;
    this.#set(this.#limit * factor);
  }

  #set(limit: number): void {
    const { floor, ceiling } = this.#options;
    this.#limit = Math.min(ceiling, Math.max(floor, limit));
  }
}

const hourMs = 3_600_000;
const buckets = [
  [hourMs, '1h'],
  [6 * hourMs, '6h'],
  [24 * hourMs, '24h'],
  [7 * 24 * hourMs, '7d'],
  [30 * 24 * hourMs, '30d'],
] as const;

/** The class of comparable scans: same endpoint, same tenant, about the same length. */
export function scanClass(endpoint: string, lengthMs: number, owner: string): string {
  const bucket = buckets.find(([bound]) => lengthMs <= bound)?.[1] ?? 'unbounded';
  return JSON.stringify([endpoint, bucket, owner]);
}
