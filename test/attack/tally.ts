/** What an angle tried, and what it found. */
export interface AttackReport {
  readonly tried: ReadonlyMap<string, number>;
  readonly findings: readonly string[];
}

/** How an angle is run. */
export interface AttackSettings {
  readonly seed: number;
  /** Requests of `tenants` and `lanes`, rounds of `caches`, answers asked for of `peers`; `browser` always tries all that it has. */
  readonly runs: number;
  /** A VictoriaLogs to use in place of the embedded backend. */
  readonly backendUrl: string | undefined;
}

const maxShown = 1_200;

/** Counts while an angle runs. */
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
