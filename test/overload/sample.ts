/** All response times by outcome, without aggregation: an overload of ten minutes has a few hundred thousand numbers. */
export class Sample {
  readonly admitted: number[] = [];
  readonly refused: number[] = [];
  /** The delay of this side in sending requests, which limits the precision of the measurement. */
  readonly late: number[] = [];
  /** Responses by status; 0 for no response. */
  readonly statuses = new Map<number, number>();
  /** Times of successful responses, by the kind of request. */
  readonly kinds = new Map<string, number[]>();

  sent(lateMs: number): void {
    this.late.push(lateMs);
  }

  answered(status: number, ms: number, kind = ''): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status === 200) {
      this.admitted.push(ms);
      const times = this.kinds.get(kind) ?? [];
      this.kinds.set(kind, times);
      times.push(ms);
    } else if (status === 503 || status === 429) this.refused.push(ms);
  }

  /** The number of responses that are neither admitted nor refused. */
  get odd(): number {
    let odd = 0;
    for (const [status, count] of this.statuses)
      if (status !== 200 && status !== 503 && status !== 429) odd += count;
    return odd;
  }
}

/** A quantile by the nearest-rank method; NaN for an empty list. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? NaN;
}
