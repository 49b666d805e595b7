/** The backend's memory, in bytes. */
export interface MemoryNow {
  readonly used: number;
  readonly available: number;
}

interface Cost {
  readonly bytes: number;
  /** Of the latest scan. */
  readonly durationMs: number;
  readonly atMs: number;
}

const trustedMs = 3_600_000;
const unmeasuredShare = 0.1;
const leastShare = 1 / 256;
const maxClasses = 1024;

/** How much backend memory, and how much time, scans of each class have needed. */
export class ScanCosts {
  readonly #costs = new Map<string, Cost>();

  /** Whether the class was measured recently. */
  isMeasured(className: string, nowMs: number): boolean {
    return nowMs - (this.#costs.get(className)?.atMs ?? -Infinity) < trustedMs;
  }

  /** Milliseconds that the latest scan of the class took; Infinity when none was measured recently. */
  durationOf(className: string, nowMs: number): number {
    return this.isMeasured(className, nowMs)
      ? (this.#costs.get(className)?.durationMs ?? Infinity)
      : Infinity;
  }

  /** Bytes to reserve for a scan. */
  costOf(className: string, available: number, nowMs: number): number {
    const known = this.#costs.get(className);
    if (known === undefined || nowMs - known.atMs >= trustedMs) return available * unmeasuredShare;
    return Math.max(known.bytes, available * leastShare);
  }

  /** Records how long a scan took. */
  took(className: string, durationMs: number): void {
    const known = this.#costs.get(className);
    if (known !== undefined) this.#costs.set(className, { ...known, durationMs });
  }

  /** Records how much a scan needed. */
  measured(className: string, bytes: number, durationMs: number, nowMs: number): void {
    const known = this.#costs.get(className);
    const isTrusted = known !== undefined && nowMs - known.atMs < trustedMs;
    this.#costs.delete(className);
    // Reserve for the largest one seen.
    const largest = isTrusted ? Math.max(bytes, known.bytes) : bytes;
    this.#costs.set(className, { bytes: largest, durationMs, atMs: nowMs });
    const oldest = this.#costs.keys().next();
    if (this.#costs.size > maxClasses && oldest.done !== true) this.#costs.delete(oldest.value);
  }
}
