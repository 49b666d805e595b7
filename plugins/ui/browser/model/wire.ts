/** The answers of the page's endpoints, limited to the members that the page uses. */
import type { PipelineDescription } from '../../../../core/kernel/plugin/host.js';
import type { RunReport } from '../../../../core/engine/plan/explain/run.js';
import type { CallFigures, RouteFigures } from '../../index.js';

export type { OptionDescription } from '../../../../core/kernel/options/describe.js';
export type { Latency, PartDescription, SectionDescription } from '../../../../core/kernel/plugin/host.js';
export type { PageExplanation } from '../../explain.js';
export type { Narrowing, NarrowingLabel, NarrowingStage } from '../../narrowing.js';
export type { QueryOutline, ValueUnit } from '../../outline.js';
export type { ExplainedPart, ExplainedRead } from '../../../../core/engine/plan/explain/explain.js';
export type { RunReport, TriedStrategy } from '../../../../core/engine/plan/explain/run.js';
export type { Cost } from '../../../../core/base/trace.js';
export type { ShortCondition } from '../../../../core/victoria/logsql/conditions.js';
export type { CallFigures, RouteFigures } from '../../index.js';
export type { Hint } from '../../explain.js';

/** `/ui/api/pipeline`. */
export interface LoadedPipeline extends PipelineDescription {
  readonly nowMs: number;
  /** Reasons why the process is not ready; empty if it is. */
  readonly notReady: readonly string[];
  readonly backend: CallFigures;
  readonly routes: readonly RouteFigures[];
}

/** A query in `/debug/queries` of the plugin `admin`. */
export interface AskedQuery {
  readonly fingerprint: string;
  readonly query: string;
  readonly endpoint: string;
  readonly count: number;
  readonly total_ms: number;
  readonly max_ms: number;
  readonly errors: number;
  readonly backend_calls: number;
  readonly backend_rows: number;
  readonly backend_bytes: number;
  readonly strategies: readonly {
    readonly strategy: string;
    readonly outcome: string;
    readonly text: string;
  }[];
  /** The report of the longest run; only of the slowest queries. */
  readonly slowest_run?: RunReport;
}
/** `/debug/queries`. */
export interface AskedQueries {
  readonly total_queries: number;
  readonly unique_queries: number;
  readonly total_ms: number;
  readonly top_by_frequency: readonly AskedQuery[];
  readonly top_by_latency: readonly AskedQuery[];
  readonly top_by_errors: readonly AskedQuery[];
  readonly top_by_bytes_read: readonly AskedQuery[];
  readonly top_by_total_time: readonly AskedQuery[];
}

/** `/admin/mirror` of the plugin `mirror`. */
export interface Mirrored {
  readonly outcomes: Readonly<Record<'equal' | 'different' | 'failed' | 'skipped' | 'not_sent', number>>;
  /** The newest last. */
  readonly data: readonly MirroredDifference[];
}
export interface MirroredDifference {
  readonly atMs: number;
  readonly tenant: string;
  readonly request: {
    readonly path: string;
    readonly params: Readonly<Record<string, string | readonly string[]>>;
  };
  readonly kind: string;
  readonly where?: string;
  /** The value of the mirror. */
  readonly reference: string;
  /** The value of this proxy. */
  readonly candidate: string;
  /** Words of the row in docs/differences.md that explains it. */
  readonly known?: string;
}

export type Labels = Readonly<Record<string, string>>;

/** An entry: nanoseconds since the epoch, the line, and its labels by group. */
export type WireEntry = readonly [
  ns: string,
  line: string,
  more?: { readonly structuredMetadata?: Labels; readonly parsed?: Labels },
];
export interface WireStream {
  readonly stream: Labels;
  readonly values: readonly WireEntry[];
}
/** A series: points of Unix seconds and a value as text. */
export interface WireSeries {
  readonly metric: Labels;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}
/** A frame of `/ui/api/tail`. */
export interface TailFrame {
  readonly streams: readonly WireStream[];
  /** Lines that were dropped because the page reads too slowly. */
  readonly dropped_entries?: readonly object[];
}
export interface WireStats {
  readonly summary?: {
    readonly execTime?: number;
    readonly totalLinesProcessed?: number;
    readonly totalBytesProcessed?: number;
  };
}

/** `/ui/api/query_range`. */
export interface QueryAnswer {
  readonly data: WireData;
  readonly warnings?: readonly string[];
}
export type WireData =
  | { readonly resultType: 'streams'; readonly result: readonly WireStream[]; readonly stats?: WireStats }
  | { readonly resultType: 'matrix'; readonly result: readonly WireSeries[]; readonly stats?: WireStats };
