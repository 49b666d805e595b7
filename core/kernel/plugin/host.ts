import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Meters, MetricSpec, MetricSpecs } from '../../base/meters.js';
import type { StrainView } from '../../base/admission/strain.js';
import type { NameLearner } from '../../victoria/names/name-learner.js';
import type { Naming } from '../../victoria/names/naming.js';
import type { Workers } from '../../workers/workers.js';
import type { Limits } from '../../wire/limits/limits.js';
import type { OptionDescription } from '../options/describe.js';
import type { Answer } from '../../wire/answer/types.js';
import type { ApiRequest } from '../../wire/api/request.js';
import type { RequestObserver } from '../telemetry/request-record.js';

/** Caches to empty: `answers` means only those of finished answers (tenant map or field mapping changed). */
export type PurgeScope = 'answers' | 'all';

/** On whose behalf background work asks. */
export interface BackgroundAsker {
  /** As `X-Scope-OrgID`; undefined for none. */
  readonly orgId: string | undefined;
  readonly signal: AbortSignal;
}

/** The services that the kernel gives a plugin, besides its options. */
export interface Host<Metrics extends MetricSpecs = MetricSpecs> {
  readonly pluginId: string;
  readonly log: Logger;
  /** For a part of the plugin whose records have a component of their own (specification: log fields). */
  logAs(component: string): Logger;
  readonly meters: Meters<Metrics>;
  /** Rules by which names and labels are shown and translated: the `names` section of the pipeline file. Another one after a reload. */
  readonly naming: Naming;
  /** Names that the backend stores, as queries have learned them. */
  readonly learner: NameLearner;
  /** Limits by tenant: the `limits` section of the pipeline file. */
  readonly limits: Limits;
  /** Asks every plugin, in all workers, to empty its caches, or to drop what they hold of one tenant. */
  purge(scope: PurgeScope, tenantId?: string): Promise<void>;
  /** The same in this process only: for a purge that each process learns of by itself. */
  purgeHere(scope: PurgeScope, tenantId?: string): Promise<void>;
  /**
   * Sends a request down the chain for nobody: background work, which ends with the signal, is never waited for (Caller.isBackground) and has
   * an account of memory of its own. Waits until the proxy serves; rejects with what a client would get.
   */
  ask(request: ApiRequest, asker: BackgroundAsker): Promise<Answer>;
  /** All reasons why the process, or another worker, is not ready, in pipeline order; empty when all are. */
  readiness(): Promise<readonly string[]>;
  /** Every metric of the process, those of all workers added up, in the text exposition format; an ApiError when over `-server.metrics-max-concurrency`. */
  exposeMetrics(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** The pipeline as this process has loaded it, with the statistics of its stages so far. */
  describePipeline(): Promise<PipelineDescription>;
  /** Reports every HTTP request that this plugin's pipeline answers to the observer from now on; observers run one after the other and must be fast. */
  observeRequests(observer: RequestObserver): void;
  /** Overload signs of this process and of what it depends on. */
  readonly strain: StrainView;
  /** The processes that serve together. */
  readonly workers: Workers;
  readonly clock: Clock;
  /**
   * A value that several plugins of a process share: made by the first that asks for it by this name, which says what it is, and given up when the
   * last one that asked for it has stopped; `onEnd` takes work for that moment.
   */
  shared<Value>(name: string, make: (onEnd: Host['onStop']) => Value): Value;
  /** Work to do when this plugin has stopped, or could not be started: undoes what it has registered with others. */
  onStop(work: () => void): void;
  /**
   * The options that answers depend on beside their keys, as 16 hex digits. A plugin with `keepsAnswers` never sees another one: after a
   * reload that changes it, another instance takes its place, which begins with nothing kept.
   */
  readonly setup: string;
  /** Reads the pipeline file again, in all workers, and resolves when it serves or was refused. */
  reload(): Promise<readonly WorkerReload[]>;
  /** State by which this process serves, for comparison with others. */
  serving(): ServingState;
}

/** A finding about the pipeline file, or why it could not be started. */
export interface ReloadFinding {
  /** `pipelines/site.yaml:14:5`; the file alone where no line is known. */
  readonly at: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly rule?: string;
  readonly fix?: string;
}

/**
 * Outcome of a reload: another pipeline serves (`swapped`), the file says what it said before (`unchanged`), or it cannot be served, and
 * the pipeline before goes on (`refused`).
 */
export interface ReloadReport {
  readonly result: 'swapped' | 'unchanged' | 'refused';
  /** Of the pipeline that serves now. */
  readonly hash: string;
  /** Counts the pipelines that have served, from 1. */
  readonly generation: number;
  readonly findings: readonly ReloadFinding[];
}

/** Report of a worker, or the reason why there is none. */
export type WorkerReload =
  | { readonly worker: number; readonly report: ReloadReport }
  | { readonly worker: number; readonly missing: string };

/** State by which a process serves. Times in Unix milliseconds. */
export interface ServingState {
  readonly file: string;
  /** 16 hex digits, equal for processes that do the same: of all options but secrets and those that each replica has its own of. */
  readonly hash: string;
  readonly generation: number;
  readonly startedMs: number;
  /** When this pipeline began to serve. */
  readonly servingSinceMs: number;
  /** Earlier pipelines that still have requests or tails. */
  readonly draining: number;
  readonly lastReload: (ReloadReport & { readonly atMs: number }) | undefined;
}

/** Quantiles of the durations of a stage's latest calls, in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
}

/** Figures of a stage since the process started. */
export interface StageFigures {
  readonly calls: number;
  /** Calls that failed in this stage: refusals and bugs. An error that passes through is counted where it was thrown. */
  readonly errors: number;
  /** Calls answered without the later stages. For a cache these are its hits. */
  readonly answeredHere: number;
  /** Duration without the later stages; undefined before the first call. */
  readonly ownMs: Latency | undefined;
  readonly totalMs: Latency | undefined;
}

/** A declared metric and its current value: summed over its labels, for a histogram the number of observations. */
export interface MeterReading {
  readonly name: string;
  readonly help: string;
  readonly value: number;
  /** The way in which those of several workers become one: see MetricSpec. */
  readonly ofWorkers?: MetricSpec['ofWorkers'];
}

/** A core section of the pipeline file. */
export interface SectionDescription {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionDescription[];
}

/** A plugin in its place, without the option values that a schema marks as secret. */
export interface PartDescription extends SectionDescription {
  readonly id: string;
  /** `pipelines/site.yaml:14:5`. */
  readonly at: string;
  readonly meters: readonly MeterReading[];
  /** Stages only. */
  readonly figures?: StageFigures;
}

/** A pipeline as loaded. */
export interface PipelineDescription {
  readonly file: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  readonly stages: readonly PartDescription[];
  readonly endpoints: readonly PartDescription[];
  readonly services: readonly PartDescription[];
  readonly sections: readonly SectionDescription[];
}
