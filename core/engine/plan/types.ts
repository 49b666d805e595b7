import type { FieldRef, LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { ListingQuestion } from '../../victoria/upstream/types.js';
import type { Expr, Matcher, Stage } from '../../logql/ast.js';
import type { Leaf, PlannedMetric } from '../../logql/metric/index.js';
import type { Naming } from '../../victoria/names/naming.js';
import type { LabelFields, LeafPush, ParsedNames } from './columns.js';
import type { AppliedRule } from './rules/index.js';

export type { LeafPush } from './columns.js';

/** The names that a plan is based on. */
export interface PlanContext {
  readonly naming: Naming;
  /** The stored stream fields that become labels. */
  readonly fields: LabelFields;
  /** True if streams of aggregated metrics and patterns match no rows. Loki shows them only to Logs Drilldown. */
  readonly hidesInternal?: boolean;
}

/** The rule that was applied to a part of the query. */
export interface Decision {
  readonly rule: AppliedRule;
  readonly part: Matcher | Stage;
}

/** The plan of a log query. The engine makes and executes plans once the stored names are known. */
export interface LogsPlan {
  readonly kind: 'logs';
  /** Matches the rows that can matter: exactly, or a superset if `residual` is not empty. */
  readonly filter: LogsqlFilter;
  /** Stages to evaluate here, in order. */
  readonly residual: readonly Stage[];
  /**
   * Line filters that the backend has evaluated, except on rows without a stored line: for rebuilt lines they are evaluated here, first.
   */
  readonly recheck: readonly Stage[];
}

/** A leaf that unwraps a label, and uses nothing of a line except labels that a parser takes from it, and its level. */
export interface ValuesPlan {
  /** All visible labels. */
  readonly names: ReadonlySet<string> | 'all';
  /** Stages that run on its rows. */
  readonly stages: readonly Stage[];
  /** The labels that a parser may take from lines; undefined if no stage reads them. */
  readonly parsed?: ParsedNames;
}

/** A leaf that uses nothing of a line except labels that a parser takes from it, so that the backend can send shortened lines. */
export interface ShortLinesPlan extends ValuesPlan {
  readonly names: ReadonlySet<string>;
  readonly parsed: ParsedNames;
}

/** The labels by which rows without a stored line that pass the line filters of the backend are counted: their fields show all of them. */
export interface FieldsPlan {
  readonly names: ReadonlySet<string>;
  /** True if `| json` makes labels from the fields. */
  readonly readsJson: boolean;
}

/** A plan to read one range aggregation of a metric query from the backend. */
export interface LeafPlan extends Leaf {
  /** Index among the leaves of its query, in evaluation order. */
  readonly index: number;
  /** The rows it reads. The stages are evaluated on them once more, regardless of what the backend has done. */
  readonly logs: LogsPlan;
  /** Matches the rows of its streams, without any line filter: a superset of `logs` that is cheap to count. */
  readonly selection: LogsqlFilter;
  /** The columns it uses; undefined for all. Rows without a stored line need all columns, unless it `seesFieldsOnly`. */
  readonly columns: readonly FieldRef[] | undefined;
  /** True if it uses nothing of a rebuilt line but the labels that `| json` makes of fields among `columns`. */
  readonly seesFieldsOnly?: boolean;
  /** True if the series of samples with an error have all labels, and not only those that the columns determine. */
  readonly mayKeepErrors?: true;
  /** The count by the backend instead of reading rows; undefined if that is impossible. */
  readonly push: LeafPush | undefined;
  /** True if every selected stream has all labels that the leaf uses, so that a parser makes none of them. */
  readonly hasStreamLabelsOnly?: true;
  /** A plan to shorten the rows that are read; undefined if they cannot be shortened. */
  readonly shortLines: ShortLinesPlan | undefined;
  /** A plan to gather the values that it unwraps; undefined if they cannot be gathered. */
  readonly values?: ValuesPlan | undefined;
  /** A plan to count rows without a stored line by their fields; undefined if they cannot be counted. */
  readonly fields: FieldsPlan | undefined;
  /** Decisions about the leaf as a whole, and about its parts, for `explain`. */
  readonly rule: AppliedRule;
  readonly decisions: readonly Decision[];
}

/** A metric expression, and the plans of its parts that read logs. Without such parts, its value is the same at every instant. */
export interface MetricPlan extends PlannedMetric<LeafPlan> {
  readonly kind: 'metric';
}

/** Metric queries over the same range that read the same rows, and are answered from one read (core/engine/metric/gathered.ts). */
export interface GatheredPlan {
  readonly kind: 'gathered';
  readonly parts: readonly GatheredPart[];
}
export interface GatheredPart {
  readonly plan: MetricPlan;
  /** Aborted when no request waits for this part any more. */
  readonly signal: AbortSignal;
}

/** The rows that a plan reads. */
export interface SelectedRows {
  readonly filter: LogsqlFilter;
}
type SelectedRowsKind = 'label-names' | 'series' | 'index-stats' | 'shards' | 'detected-labels' | 'patterns';
/** Plans that depend on nothing else. */
type SelectedRowsPlan = {
  readonly [Kind in SelectedRowsKind]: SelectedRows & { readonly kind: Kind };
}[SelectedRowsKind];

export interface LabelValuesPlan extends SelectedRows {
  readonly kind: 'label-values';
  readonly name: string;
}
export interface FormatPlan {
  readonly kind: 'format';
  readonly expr: Expr;
}

/** A request about the tenant itself, which the backend knows nothing about. */
export interface TenantPlan {
  readonly kind: 'tenant';
}

/** A deletion of exactly the rows that a query returns. */
export interface DeletePlan {
  readonly kind: 'delete';
  readonly filter: LogsqlFilter;
  /** Rows for which the backend cannot decide whether the query returns them. Nothing is deleted while there are any. */
  readonly uncertain: LogsqlFilter | undefined;
}

/** Lists the deletions that the backend has not finished. */
export interface DeletionsPlan {
  readonly kind: 'deletions';
}

/** Volumes of the selected streams, summed by these labels; `all` takes every label there is. */
export interface VolumePlan {
  readonly kind: 'volume';
  readonly filter: LogsqlFilter;
  readonly targets: ReadonlySet<string> | 'all';
  /** Streams without one of these labels are not counted. */
  readonly required: readonly string[];
}
/** The number of rows of streams by time. A cache of partial answers requests it to check that they are still complete. */
export interface LineCountsPlan {
  readonly kind: 'line-counts';
  readonly filter: LogsqlFilter;
  /** True if only the total number in the range is requested, which the backend counts without reading times. */
  readonly isTotal?: boolean;
}
/** Names, values or streams as the backend stores them, for caches of listings of partial ranges (plugins/peer-cache/inventory). */
export interface StoredListPlan {
  readonly kind: 'stored-list';
  readonly listing: ListingQuestion;
}
/** A log query whose entries are searched for fields. */
export interface DetectedFieldsPlan {
  readonly kind: 'detected-fields';
  readonly logs: LogsPlan;
}

export type Plan =
  | LogsPlan
  | MetricPlan
  | GatheredPlan
  | TenantPlan
  | LabelValuesPlan
  | FormatPlan
  | DeletePlan
  | DeletionsPlan
  | VolumePlan
  | LineCountsPlan
  | StoredListPlan
  | DetectedFieldsPlan
  | SelectedRowsPlan;
export type PlanKind = Plan['kind'];
