/** Times of answers by how they ended, kept whole: an overload of ten minutes is some hundred thousand numbers. */
export class Sample {
  readonly admitted: number[] = [];
  readonly refused: number[] = [];
  /** How late this side was to send: what it measures is no better than that. */
  readonly late: number[] = [];
  /** Answers by status; 0 is none. */
  readonly statuses = new Map<number, number>();
  /** Times of answers that were given, by the kind of what was asked. */
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

  /** Answers that are neither. */
  get odd(): number {
    let odd = 0;
    for (const [status, count] of this.statuses)
      if (status !== 200 && status !== 503 && status !== 429) odd += count;
    return odd;
  }
}

/** A quantile by the nearest rank; NaN of nothing. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? NaN;
}
