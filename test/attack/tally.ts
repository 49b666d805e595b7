/** The attempts and findings of an angle. */
export interface AttackReport {
  readonly tried: ReadonlyMap<string, number>;
  readonly findings: readonly string[];
}

/** Settings for the run of an angle. */
export interface AttackSettings {
  readonly seed: number;
  /** Requests of `tenants` and `lanes`, rounds of `caches`, answers requested by `peers`; `browser` always runs everything. */
  readonly runs: number;
  /** A VictoriaLogs to use instead of the embedded backend. */
  readonly backendUrl: string | undefined;
}

const maxShown = 1_200;

/** Counts attempts and findings while an angle runs. */
export class Tally implements AttackReport {
  readonly tried = new Map<string, number>();
  readonly findings: string[] = [];

  add(what: string, count = 1): void {
    this.tried.set(what, (this.tried.get(what) ?? 0) + count);
  }

  find(text: string): void {
    this.findings.push(text.slice(0, maxShown));
  }
}
