import type { LogExpr, Matcher } from '../../logql/ast.js';
import type { Filters } from '../../logql/index.js';
import type { ApproxTopk, Leaf, PlannedMetric } from '../../logql/metric/index.js';
import type { Pushdown } from './rules/query.js';
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
export interface AskedLogs extends Reading {
  readonly kind: 'logs';
  readonly expr: LogExpr;
}

/** A metric expression, and the parts of it that read logs. */
export interface AskedMetric extends Reading, PlannedMetric<Leaf> {
  readonly kind: 'metric';
}

/** Metric queries over the same range that read the same rows, and are answered from one read (core/engine/metric/gathered.ts). */
export interface AskedGathered {
  readonly kind: 'gathered';
  readonly parts: readonly AskedPart[];
}
export interface AskedPart {
  readonly asked: AskedMetric;
  /** Aborted when all clients of this part are gone. */
  readonly signal: AbortSignal;
}

/** A log query whose entries are searched for fields. */
export interface AskedFields extends Reading {
  readonly kind: 'detected-fields';
  readonly expr: LogExpr;
}

export interface AskedDeletion {
  readonly kind: 'delete';
  readonly expr: LogExpr;
}

/** Plans that read all rows of some streams. */
export type StreamsPlan = Exclude<
  Extract<Plan, { readonly filter: unknown }>,
  { readonly kind: 'logs' | 'delete' }
>;

/** The request for such a plan. It reads the rows that match any of the selectors. */
export type AskedStreams = {
  readonly [Kind in StreamsPlan['kind']]: Omit<Extract<StreamsPlan, { readonly kind: Kind }>, 'filter'> & {
    readonly selectors: readonly (readonly Matcher[])[];
  };
}[StreamsPlan['kind']];

/**
 * A parsed and checked request, made by translate. The engine plans it once the stored names are known. The time range stays in the
 * request, where window-split can narrow it.
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
    /** The parsed and checked request (provided by translate). */
    plan: Asked;
  }
}
