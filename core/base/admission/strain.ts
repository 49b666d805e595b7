/** How late things of fixed cost come that all requests share: who watches one tells it, who admits requests asks for the worst. */
export interface StrainView {
  /** Tells how many milliseconds later than usual what this one watches came; it stands for a second, or until told again. */
  tell(lateMs: number): void;
  /** The most that any of them told, in milliseconds. */
  readonly lateMs: number;
}

/** Longer ago nobody watches any more: nothing is known. */
const forgottenAfterMs = 1_000;

/** The signs of strain of one process. */
export class Strain {
  readonly #nowMs: () => number;
  readonly #told = new Map<string, { readonly lateMs: number; readonly atMs: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** What one watcher sees and tells. */
  view(watcher: string): StrainView {
    const [all, nowMs] = [this.#told, this.#nowMs];
    return {
      tell: (lateMs) => void all.set(watcher, { lateMs, atMs: nowMs() }),
      get lateMs() {
        const sinceMs = nowMs() - forgottenAfterMs;
        return Math.max(0, ...[...all.values()].map(({ lateMs, atMs }) => (atMs < sinceMs ? 0 : lateMs)));
      },
    };
  }
}
