import type { LogExpr, Matcher } from '../../logql/ast.js';
import type { Filters } from '../../logql/index.js';
import type { ApproxTopk, Leaf, PlannedMetric } from '../../logql/metric/index.js';
import type { Pushdown } from './rules/rule.js';
import type { DeletionsPlan, FormatPlan, Plan, StoredListPlan, TenantPlan } from './types.js';

/** Options that change how a query is read and planned, with the defaults of the options. */
export interface PlanSettings {
  readonly pushdown?: Pushdown;
  readonly filters?: Filters;
  readonly approxTopk?: ApproxTopk;
}

/** Options that a request passes on to its plan. */
interface Reading {
  readonly pushdown: Pushdown;
}

/** A log query, with the names of labels in this naming. */
export interface CheckedLogs extends Reading {
  readonly kind: 'logs';
  readonly expr: LogExpr;
}

/** A metric expression, and the parts of it that read logs. */
export interface CheckedMetric extends Reading, PlannedMetric<Leaf> {
  readonly kind: 'metric';
}

/** Metric queries over the same range that read the same rows, and are answered from one read (core/engine/metric/gathered.ts). */
export interface CheckedGathered {
  readonly kind: 'gathered';
  readonly parts: readonly CheckedPart[];
}
export interface CheckedPart {
  readonly asked: CheckedMetric;
  /** Aborted when all clients of this part are gone. */
  readonly signal: AbortSignal;
}

/** A log query whose entries are searched for fields. */
export interface CheckedFields extends Reading {
  readonly kind: 'detected-fields';
  readonly expr: LogExpr;
}

export interface CheckedDeletion {
  readonly kind: 'delete';
  readonly expr: LogExpr;
}

/** Plans that read all rows of some streams. */
export type StreamsPlan = Exclude<
  Extract<Plan, { readonly filter: unknown }>,
  { readonly kind: 'logs' | 'delete' }
>;

/** The request for such a plan. It reads the rows that match any of the selectors. */
export type CheckedStreams = {
  readonly [Kind in StreamsPlan['kind']]: Omit<Extract<StreamsPlan, { readonly kind: Kind }>, 'filter'> & {
    readonly selectors: readonly (readonly Matcher[])[];
  };
}[StreamsPlan['kind']];

/**
 * A parsed and checked request, made by translate. The engine plans it once the stored names are known. The time range stays in the
 * request, where window-split can narrow it.
 */
export type CheckedRequest =
  | CheckedLogs
  | CheckedMetric
  | CheckedGathered
  | CheckedFields
  | CheckedDeletion
  | CheckedStreams
  | FormatPlan
  | TenantPlan
  | DeletionsPlan
  | StoredListPlan;

declare module '../../kernel/plugin/slots.js' {
  interface Slots {
    /** The parsed and checked request (provided by translate). */
    plan: CheckedRequest;
  }
}
