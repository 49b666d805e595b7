import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Meters, MetricSpecs } from '../../base/meters.js';
import type { StrainView } from '../../base/admission/strain.js';
import type { Naming } from '../../victoria/names/naming.js';
import type { Limits } from '../../wire/limits/limits.js';
import type { OptionDescription } from '../options/describe.js';
import type { RequestObserver } from '../telemetry/request-record.js';

/** What a plugin gets from the house, besides its options. */
export interface Host<Metrics extends MetricSpecs = MetricSpecs> {
  readonly pluginId: string;
  readonly log: Logger;
  readonly meters: Meters<Metrics>;
  /** How names and labels are exposed and translated: the `names` section of the pipeline file. */
  readonly naming: Naming;
  /** Limits by tenant: the `limits` section of the pipeline file. */
  readonly limits: Limits;
  /** Asks every plugin to empty its caches. */
  purge(scope: 'answers' | 'all'): Promise<void>;
  /** All reasons why the process is not ready, in pipeline order; empty when it is. */
  readiness(): Promise<readonly string[]>;
  /** Every metric of the process in the text exposition format; over `-server.metrics-max-concurrency` an ApiError. */
  exposeMetrics(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** The pipeline as it was loaded, and what its stages have done since. */
  describePipeline(): Promise<PipelineDescription>;
  /** Tells the plugin of every HTTP request from now on; observers are called in turn and must be quick. */
  observeRequests(observer: RequestObserver): void;
  /** What tells that this process or what it depends on has too much to do. */
  readonly strain: StrainView;
  readonly clock: Clock;
}

/** Quantiles of the times of a stage's last calls, in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
}

/** What a stage has done since the process started. */
export interface StageFigures {
  readonly calls: number;
  /** Calls that failed here: refusals and defects. An error that passes through is counted where it began. */
  readonly errors: number;
  /** Calls that needed nothing of the stages behind. For a cache these are its hits. */
  readonly answeredHere: number;
  /** Time without that of the stages behind; undefined before the first call. */
  readonly ownMs: Latency | undefined;
  readonly totalMs: Latency | undefined;
}

/** A declared metric and its value now: summed over its labels; of a histogram, how much was observed. */
export interface MeterReading {
  readonly name: string;
  readonly help: string;
  readonly value: number;
}

/** A core section of the pipeline file. */
export interface SectionDescription {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionDescription[];
}

/** A plugin in its place; no value that a schema calls secret is in it. */
export interface PartDescription extends SectionDescription {
  readonly id: string;
  /** `pipelines/site.yaml:14:5`. */
  readonly at: string;
  readonly meters: readonly MeterReading[];
  /** Stages only. */
  readonly figures?: StageFigures;
}

/** A pipeline as it was loaded. */
export interface PipelineDescription {
  readonly file: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  readonly stages: readonly PartDescription[];
  readonly endpoints: readonly PartDescription[];
  readonly services: readonly PartDescription[];
  readonly sections: readonly SectionDescription[];
}
