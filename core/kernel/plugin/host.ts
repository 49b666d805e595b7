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
import type { RequestObserver } from '../telemetry/request-log.js';
import type { RestUse } from './slots.js';

/** Caches to purge: `answers` means only those of finished answers (after a change of the tenant map or field mapping). */
export type PurgeScope = 'answers' | 'all';

/** The identity for background requests. */
interface BackgroundAsker {
  /** As in `X-Scope-OrgID`; undefined for none. */
  readonly orgId: string | undefined;
  readonly signal: AbortSignal;
}

/** The services that the kernel gives a plugin, besides its options. */
export interface Host<Metrics extends MetricSpecs = MetricSpecs> {
  readonly pluginId: string;
  readonly log: Logger;
  /** A logger for a part of the plugin with a component of its own (specification: log fields). */
  logAs(component: string): Logger;
  readonly meters: Meters<Metrics>;
  /** Rules for names and labels: the `names` section of the pipeline file. It is replaced by a reload. */
  readonly naming: Naming;
  /** Names that the backend stores, as learned by queries. */
  readonly learner: NameLearner;
  /** Limits by tenant: the `limits` section of the pipeline file. */
  readonly limits: Limits;
  /** Purges the caches of all plugins in all workers, for one tenant only if its id is given. */
  purge(scope: PurgeScope, tenantId?: string): Promise<void>;
  /** As `purge`, in this process only: for a purge that each process detects by itself. */
  purgeHere(scope: PurgeScope, tenantId?: string): Promise<void>;
  /**
   * Sends a background request down the chain. It ends with the signal, never has a waiting client (Caller.isBackground), and has its own
   * memory account. Waits until the proxy serves; rejects with the error that a client would get.
   */
  ask(request: ApiRequest, asker: BackgroundAsker): Promise<Answer>;
  /** All reasons why the process, or another worker, is not ready, in pipeline order; empty if all are ready. */
  readiness(): Promise<readonly string[]>;
  /**
   * Every metric of the process, summed over all workers, in the text exposition format; rejects with an ApiError above
   * `-server.metrics-max-concurrency`.
   */
  exposeMetrics(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** The pipeline as loaded by this process, with the statistics of its stages so far. */
  describePipeline(): Promise<PipelineDescription>;
  /**
   * Registers an observer of every HTTP request that this plugin's pipeline answers from now on. Observers run one after another and must
   * be fast.
   */
  observeRequests(observer: RequestObserver): void;
  /** Signs of overload in this process and in the services it depends on. */
  readonly strain: StrainView;
  /** The processes that serve together. */
  readonly workers: Workers;
  readonly clock: Clock;
  /**
   * A value that several plugins of a process share. The first caller with a name creates it; it is released when the last plugin that
   * requested it has stopped. `onEnd` registers cleanup for that moment.
   */
  shared<Value>(name: string, make: (onEnd: Host['onStop']) => Value): Value;
  /** Registers cleanup for when this plugin has stopped or could not be started, to undo its registrations elsewhere. */
  onStop(work: () => void): void;
  /**
   * Fingerprint of the options that answers depend on besides their keys, as 16 hex digits. It is constant for a plugin with
   * `keepsAnswers`: a reload that changes it creates another instance, with an empty cache.
   */
  readonly setup: string;
  /** Reloads the pipeline file in all workers, and resolves when it serves or was rejected. */
  reload(): Promise<readonly WorkerReload[]>;
  /** The state of this process, for comparison with others. */
  serving(): ServingState;
}

/** A finding about the pipeline file, or the reason why it could not be started. */
export interface ReloadFinding {
  /** `pipelines/site.yaml:14:5`, or only the file if the line is unknown. */
  readonly at: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly rule?: string;
  readonly fix?: string | undefined;
}

/**
 * Outcome of a reload: a new pipeline serves (`swapped`), the file means the same as before (`unchanged`), or it cannot be served and the
 * previous pipeline goes on (`refused`).
 */
export interface ReloadReport {
  readonly result: 'swapped' | 'unchanged' | 'refused';
  /** Hash of the pipeline that serves now. */
  readonly hash: string;
  /** Number of pipelines that have served, starting at 1. */
  readonly generation: number;
  readonly findings: readonly ReloadFinding[];
}

/** The report of a worker, or the reason why there is none. */
export type WorkerReload =
  | { readonly worker: number; readonly report: ReloadReport }
  | { readonly worker: number; readonly missing: string };

/** The serving state of a process. Times in Unix milliseconds. */
export interface ServingState {
  readonly file: string;
  /**
   * 16 hex digits, equal for processes with the same behaviour: a hash of all options except secrets and options that are specific to each
   * replica.
   */
  readonly hash: string;
  readonly generation: number;
  readonly startedMs: number;
  /** Time at which this pipeline started to serve. */
  readonly servingSinceMs: number;
  /** Number of earlier pipelines that still have requests or tails. */
  readonly draining: number;
  readonly lastReload: (ReloadReport & { readonly atMs: number }) | undefined;
}

/** Quantiles of the durations of a stage's recent calls, in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
}

/** Figures of a stage since the process started. */
export interface StageFigures {
  readonly calls: number;
  /** Number of calls that failed in this stage, by rejections or bugs. An error that passes through is counted where it was thrown. */
  readonly errors: number;
  /** Number of calls answered without the later stages; for a cache these are hits. */
  readonly answeredHere: number;
  /** Duration excluding the later stages; undefined before the first call. */
  readonly ownMs: Latency | undefined;
  readonly totalMs: Latency | undefined;
}

/** A declared metric with its current value: the sum over its labels, for a histogram the number of observations. */
export interface MeterReading {
  readonly name: string;
  readonly help: string;
  readonly value: number;
  /** Rule for combining the values of several workers: see MetricSpec. */
  readonly ofWorkers?: MetricSpec['ofWorkers'] | undefined;
}

/** A core section of the pipeline file. */
export interface SectionDescription {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionDescription[];
}

/** A plugin with its position, without the option values that a schema marks as secret. */
export interface PartDescription extends SectionDescription {
  readonly id: string;
  /** `pipelines/site.yaml:14:5`. */
  readonly at: string;
  readonly meters: readonly MeterReading[];
  /** Set for stages only. */
  readonly figures?: StageFigures | undefined;
  /** Set for stages only: the slots that it needs and fills, and how often it may run the later stages. */
  readonly passing?: {
    readonly needs: readonly string[];
    readonly gives: readonly string[];
    readonly rest: RestUse;
  };
}

/** A pipeline as loaded. */
export interface PipelineDescription {
  readonly file: string;
  /** Start of the process in Unix milliseconds. */
  readonly startedMs: number;
  readonly stages: readonly PartDescription[];
  readonly endpoints: readonly PartDescription[];
  readonly services: readonly PartDescription[];
  readonly sections: readonly SectionDescription[];
}
