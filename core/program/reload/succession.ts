import type { Logger } from '../../base/logger.js';
import type { Meters } from '../../base/meters.js';
import type { Clock } from '../../base/clock.js';
import type { MemoryPool } from '../../base/memory/account.js';
import type { Edge, Prepared } from '../../http/edge.js';
import { PluginFailure } from '../../kernel/lifecycle.js';
import { placeText } from '../../kernel/pipeline/located.js';
import { pluginsOf, sectionsOf, type Pipeline, type Reread } from '../../kernel/pipeline/types.js';
import type { ReloadFinding, ReloadReport, ServingState } from '../../kernel/plugin/host.js';
import type { reloadMetrics } from '../../kernel/telemetry/metrics-table.js';
import { NameLearner } from '../../victoria/names/name-learner.js';
import { findingLine, findingOf } from '../findings.js';
import { Generation, type GenerationDeps } from './generation.js';
import { needsRestart } from './restart-only.js';
import { sleep } from '../../base/time/waits.js';

interface SuccessionDeps extends GenerationDeps {
  readonly edge: Edge;
  readonly memory: MemoryPool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly meters: Meters<typeof reloadMetrics>;
  /** Start of the process in Unix milliseconds. */
  readonly startedMs: number;
  /** Called when a generation is about to take the requests. */
  readonly onSwap: () => void;
}

/** Maximum wait for new plugins to become ready; then they serve anyway. */
const warmMs = 5_000;
const lookEveryMs = 50;
/** Interval of checks for the end of an earlier generation's last request. */
const drainLookMs = 20;
const drainLookMostMs = 500;
/** Time for background work to finish after the requests have ended. */
const lastWorkMs = 1_000;
/** Maximum number of earlier generations with open tails; beyond that, the tails of the oldest are closed. */
const maxDraining = 16;

/** The sequence of generations: the one that serves, and earlier ones that still have requests. */
export class Succession {
  readonly #deps: SuccessionDeps;
  #current: Generation;
  #number = 1;
  #sinceMs: number;
  readonly #draining = new Map<Generation, AbortController>();
  #lastReload: ServingState['lastReload'];
  /** The running reload, and the one that waits for it: reloads requested in the meantime share the waiting one's report. */
  #running: Promise<ReloadReport> | undefined;
  #waiting: Promise<ReloadReport> | undefined;
  #isClosing = false;

  private constructor(first: Generation, deps: SuccessionDeps) {
    this.#deps = deps;
    this.#current = first;
    this.#sinceMs = deps.clock.nowMs();
  }

  /** Starts serving a generation whose plugins have started. */
  static async begin(first: Generation, deps: SuccessionDeps): Promise<Succession> {
    const prepared = await deps.edge.prepare(first.served(deps.memory));
    first.serving = prepared.commit();
    const succession = new Succession(first, deps);
    succession.#show(first.hash);
    deps.meters.reload_draining.set(0, {});
    succession.#record('success');
    return succession;
  }

  get current(): Generation {
    return this.#current;
  }

  get state(): ServingState {
    return {
      file: this.#current.pipeline.file,
      hash: this.#current.hash,
      generation: this.#number,
      startedMs: this.#deps.startedMs,
      servingSinceMs: this.#sinceMs,
      draining: this.#draining.size,
      lastReload: this.#lastReload,
    };
  }

  /** Reads the file again, and serves it if possible. Never throws because of the file. */
  reload(): Promise<ReloadReport> {
    if (this.#running === undefined) return this.#begin();
    // The running one may have read the file before it was changed.
    this.#waiting ??= this.#running.then(() => {
      this.#waiting = undefined;
      return this.#begin();
    });
    return this.#waiting;
  }

  #begin(): Promise<ReloadReport> {
    const running = this.#reload().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #reload(): Promise<ReloadReport> {
    const { log, clock, meters } = this.#deps;
    const before = this.#current;
    let read: Reread | undefined;
    let report: ReloadReport;
    try {
      read = await before.pipeline.reread?.();
      report = read === undefined ? this.#report('unchanged', []) : await this.#take(read);
    } catch (error) {
      const at = before.pipeline.file;
      const message = error instanceof Error ? error.message : String(error);
      report = this.#report('refused', [{ at, severity: 'error', message }]);
    }
    // Files that plugins read themselves, such as a tenant map, may have changed although the pipeline file has not.
    if (!this.#isClosing) await this.#current.units.reload(before.units);
    meters.reloads_total.add(1, { result: report.result });
    this.#lastReload = { ...report, atMs: clock.nowMs() };
    const fields = {
      'pipeline.file': before.pipeline.file,
      'pipeline.hash': report.hash,
      'pipeline.generation': report.generation,
      ...(report.findings.length === 0 ? {} : { 'pipeline.findings': report.findings.map(findingLine) }),
    };
    if (report.result === 'refused') {
      this.#record('failure');
      log.error('reload refused, the previous pipeline keeps serving', fields);
    } else {
      this.#record('success');
      const says = report.result === 'swapped' ? 'pipeline reloaded' : 'reload changed nothing';
      if (report.findings.length > 0) log.warn(says, fields);
      else log.info(says, fields);
    }
    return report;
  }

  async #take({ pipeline, findings }: Reread): Promise<ReloadReport> {
    if (pipeline === undefined) return this.#report('refused', findings.map(findingOf));
    const found = [...outdated(pipeline), ...findings.map(findingOf)];
    const refused = (message: string, at = pipeline.file): ReloadReport =>
      this.#report('refused', [{ at, severity: 'error', message }, ...found]);
    const before = this.#current;
    const fixed = needsRestart(before.pipeline, pipeline);
    if (fixed.length > 0)
      return refused(
        `${fixed.join(', ')} ${fixed.length === 1 ? 'is' : 'are'} read only at startup: restart to apply the change`,
      );
    let next: Generation;
    try {
      next = new Generation(pipeline, this.#deps, this.#learnerFor(pipeline));
    } catch (error) {
      return refused(...textAndPlace(error));
    }
    if (next.units.isSameAs(before.units) && sameSections(before.pipeline, pipeline)) {
      await next.end();
      return this.#report('unchanged', found);
    }
    const { fresh } = next.units;
    let prepared: Prepared;
    try {
      await next.units.start(pipeline.server.startTimeout);
    } catch (error) {
      return refused(...textAndPlace(error));
    }
    try {
      prepared = await this.#deps.edge.prepare(next.served(this.#deps.memory));
    } catch (error) {
      await next.end();
      return refused(...textAndPlace(error));
    }
    const reasons = await this.#warm(next, fresh);
    if (reasons.length > 0) this.#deps.log.warn('plugins serve although they are not ready', { reasons });
    if (this.#isClosing) {
      await prepared.discard();
      await next.end();
      return refused('the process is shutting down');
    }
    this.#swap(next, prepared);
    return this.#report('swapped', found);
  }

  #swap(next: Generation, prepared: Prepared): void {
    const { memory, clock } = this.#deps;
    const before = this.#current;
    memory.holdQueriesTo(next.pipeline.limits.maxQueryMemory);
    this.#deps.onSwap();
    next.serving = prepared.commit();
    this.#current = next;
    this.#number += 1;
    this.#sinceMs = clock.nowMs();
    this.#deps.meters.pipeline_info.remove({ hash: before.hash });
    this.#show(next.hash);
    void this.#drain(before);
    if (this.#draining.size <= maxDraining) return;
    for (const [old, hurry] of this.#draining) {
      if (old.units.isSameAs(next.units)) continue;
      hurry.abort();
      return;
    }
  }

  /** Waits until nothing uses it any more. After the time limit its tails are closed, unless all of their plugins still serve. */
  async #drain(old: Generation): Promise<void> {
    const { clock, log } = this.#deps;
    const hurry = new AbortController();
    this.#draining.set(old, hurry);
    this.#showDraining();
    try {
      const boundMs = old.pipeline.server.reloadDrainTimeout;
      let untilMs = clock.monotonicMs() + boundMs;
      for (
        let waitMs = drainLookMs;
        old.isBusy && !this.#isClosing;
        waitMs = Math.min(drainLookMostMs, 2 * waitMs)
      ) {
        await sleep(waitMs, { ref: false });
        const isOver = clock.monotonicMs() >= untilMs;
        if (!isOver && !hurry.signal.aborted) continue;
        if (old.units.isSameAs(this.#current.units)) {
          untilMs = clock.monotonicMs() + boundMs;
          continue;
        }
        log.warn('closing requests and tails of the previous pipeline', {
          'requests.open': old.serving?.open ?? 0,
          'pipeline.hash': old.hash,
        });
        await old.serving?.close(0);
        break;
      }
      if (this.#isClosing) return;
      const lastMs = clock.monotonicMs() + lastWorkMs;
      while (old.chain.isRunning && clock.monotonicMs() < lastMs) await sleep(drainLookMs, { ref: false });
      await old.end();
      old.serving?.gone();
    } catch (error) {
      log.error('cannot stop the previous pipeline', { error });
    } finally {
      this.#draining.delete(old);
      this.#showDraining();
    }
  }

  /** Ends all generations, after the listeners are closed. */
  async end(): Promise<void> {
    this.#isClosing = true;
    await this.#running;
    for (const old of this.#draining.keys()) await old.end();
    await this.#current.end();
  }

  /** Prevents further generations. */
  closing(): void {
    this.#isClosing = true;
  }

  async #warm(next: Generation, fresh: Generation['units']['fresh']): Promise<readonly string[]> {
    const { clock } = this.#deps;
    const untilMs = clock.monotonicMs() + warmMs;
    // A problem that affects the current pipeline too, such as a backend that is down, does not prevent the swap.
    const known = new Set(await this.#current.units.readiness());
    for (;;) {
      const reasons = (await next.units.readiness(fresh)).filter((reason) => !known.has(reason));
      if (reasons.length === 0 || clock.monotonicMs() >= untilMs || this.#isClosing) return reasons;
      await sleep(lookEveryMs, { ref: false });
    }
  }

  /** The names learned so far, or a new learner if the mapping has changed: names learned under another mapping may not be stored names. */
  #learnerFor({ names }: Pipeline): NameLearner {
    const { pipeline, parts } = this.#current;
    return JSON.stringify(names) === JSON.stringify(pipeline.names)
      ? parts.learner
      : new NameLearner(this.#deps.clock);
  }

  #report(result: ReloadReport['result'], findings: readonly ReloadFinding[]): ReloadReport {
    return { result, hash: this.#current.hash, generation: this.#number, findings };
  }

  #record(outcome: 'success' | 'failure'): void {
    const { meters, clock } = this.#deps;
    meters.reload_last_successful.set(outcome === 'success' ? 1 : 0, {});
    if (outcome === 'success') meters.reload_last_success_timestamp_seconds.set(clock.nowMs() / 1000, {});
  }

  #show(hash: string): void {
    this.#deps.meters.pipeline_info.set(1, { hash });
  }

  #showDraining(): void {
    this.#deps.meters.reload_draining.set(this.#draining.size, {});
  }
}

function sameSections(one: Pipeline, other: Pipeline): boolean {
  return JSON.stringify(sectionsOf(one)) === JSON.stringify(sectionsOf(other));
}

/** Warnings about plugins whose files have changed since they were loaded: the running code is not that of the files. */
function outdated(pipeline: Pipeline): readonly ReloadFinding[] {
  return pluginsOf(pipeline)
    .filter(({ isOutdated }) => isOutdated)
    .map(({ at, use }) => ({
      at: placeText(at),
      severity: 'warning',
      message: `the file of "${use}" has changed since it was loaded, and plugin code is loaded only once`,
      fix: 'restart to load the new code, or rename the file',
    }));
}

/** The text of an error; for an error of a plugin it starts with its position. */
function textAndPlace(error: unknown): [message: string, at?: string] {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof PluginFailure)) return [message];
  return [message.slice(error.at.length + 2), error.at];
}
