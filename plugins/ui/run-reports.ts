import { reportRun, type RunReport } from '../../core/engine/plan/explain/run.js';
import type { RequestObserver, RequestRecord, Topic } from '../../core/plugin/index.js';

/** The header in which the page names a run, to ask afterwards what it cost. */
export const runHeader = 'x-page-run';

/** Asks every worker for a run by its name; null from those that did not run it. */
export const runTopic: Topic<string, RunReport | null> = { name: 'ui run' };

/** Runs whose cost is kept: those of a few open pages. */
const mostKept = 64;
const namePattern = /^[0-9a-f]{16,64}$/;

/** What the latest runs of pages cost, by the unguessable names that the pages gave them. */
export class RunReports implements RequestObserver {
  readonly #kept = new Map<string, RunReport>();

  started(): void {
    // What a run costs is known at its end.
  }

  finished({ caller, trace }: RequestRecord, status: number, durationMs: number): void {
    const name = caller.headers.get(runHeader);
    if (name === undefined || !namePattern.test(name)) return;
    this.#kept.delete(name);
    this.#kept.set(name, reportRun(trace, { status, answer: '', durationMs }));
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= mostKept) return;
      this.#kept.delete(oldest);
    }
  }

  /** Undefined for a name that is unknown, no longer kept, or whose request has not ended. */
  get(name: string): RunReport | undefined {
    return this.#kept.get(name);
  }
}
