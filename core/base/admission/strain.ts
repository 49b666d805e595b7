/** Overload signals shared by the process: watchers report the delay of fixed-cost work, and admission reads the worst report. */
export interface StrainView {
  /** Reports by how many milliseconds the watched work was late. A report counts for a second or until the next one. */
  report(lateMs: number): void;
  /** The largest recent report of any watcher, in milliseconds. */
  readonly lateMs: number;
}

/** Milliseconds after which a report expires. */
const forgottenAfterMs = 1_000;

export class Strain {
  readonly #nowMs: () => number;
  readonly #reports = new Map<string, { readonly lateMs: number; readonly atMs: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The view through which one watcher reports. */
  view(watcher: string): StrainView {
    const [all, nowMs] = [this.#reports, this.#nowMs];
    return {
      report: (lateMs) => void all.set(watcher, { lateMs, atMs: nowMs() }),
      get lateMs() {
        const sinceMs = nowMs() - forgottenAfterMs;
        return Math.max(0, ...[...all.values()].map(({ lateMs, atMs }) => (atMs < sinceMs ? 0 : lateMs)));
      },
    };
  }
}
