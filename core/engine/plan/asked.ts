import type { LogExpr, Matcher } from '../../logql/ast.js';
import type { Filters } from '../../logql/index.js';
import type { ApproxTopk, Leaf, PlannedMetric } from '../../logql/metric/index.js';
import type { Pushdown } from './rules/query.js';
import type { DeletionsPlan, FormatPlan, Plan, StoredListPlan, TenantPlan } from './types.js';

/** The options that change how a query is read and planned. Each has the default of its option. */
export interface PlanSettings {
  readonly pushdown?: Pushdown;
  readonly filters?: Filters;
  readonly approxTopk?: ApproxTopk;
}

/** The option that a request brings to its plan. */
interface Reading {
  readonly pushdown: Pushdown;
}

/** A log query, with the names that entries have here. */
export interface AskedLogs extends Reading {
  readonly kind: 'logs';
  readonly expr: LogExpr;
}

/** A metric expression, and its parts that read logs. */
export interface AskedMetric extends Reading, PlannedMetric<Leaf> {
  readonly kind: 'metric';
}

/** Metric queries over the same range that read the same rows, answered from one reading (core/engine/metric/gathered.ts). */
export interface AskedGathered {
  readonly kind: 'gathered';
  readonly parts: readonly AskedPart[];
}
export interface AskedPart {
  readonly asked: AskedMetric;
  /** Aborted when all clients of this part are gone. */
  readonly signal: AbortSignal;
}

/** Fields are looked for in the entries of a log query. */
export interface AskedFields extends Reading {
  readonly kind: 'detected-fields';
  readonly expr: LogExpr;
}

export interface AskedDeletion {
  readonly kind: 'delete';
  readonly expr: LogExpr;
}

/** The plans of which all rows of some streams are read. */
export type StreamsPlan = Exclude<
  Extract<Plan, { readonly filter: unknown }>,
  { readonly kind: 'logs' | 'delete' }
>;

/** The request for such a plan. Its rows are those that any of the selectors matches. */
export type AskedStreams = {
  readonly [Kind in StreamsPlan['kind']]: Omit<Extract<StreamsPlan, { readonly kind: Kind }>, 'filter'> & {
    readonly selectors: readonly (readonly Matcher[])[];
  };
}[StreamsPlan['kind']];

/**
 * A parsed and checked request, given by translate. The engine plans it as soon as the stored names are known. The time range stays in the request,
 * where window-split can narrow it.
 */
export type Asked =
  | AskedLogs
  | AskedMetric
  | AskedGathered
  | AskedFields
  | AskedDeletion
  | AskedStreams
  | FormatPlan
  | TenantPlan
  | DeletionsPlan
  | StoredListPlan;

declare module '../../kernel/plugin/slots.js' {
  interface Slots {
    /** The parsed and checked request (translate). */
    plan: Asked;
  }
}
