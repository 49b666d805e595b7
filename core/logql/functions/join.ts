import type { RangeOp, VectorOp } from '../ast.js';

/**
 * The way in which values of parts of the logs (shards, time ranges or tenants) are merged into the value of all of them. A range function
 * and the aggregation that merges its values have the same one.
 */
export interface Join {
  /** `added`: values are sums, also of samples; `chosen`: one of the values is the result; `divided`: the result is a sum over a count. */
  readonly kind: 'added' | 'chosen' | 'divided';
  readonly op: VectorOp;
  /** The range functions whose values are added up and divided, if the result is a quotient. */
  readonly quotient?: { readonly total: RangeOp; readonly count: RangeOp };
  /** Merges the values of two parts; undefined if that takes more than their values. */
  combine(a: number, b: number): number | undefined;
}

/** The smallest or largest value: NaN only if there is no other. */
export const least = (a: number, b: number): number => (b < a || Number.isNaN(a) ? b : a);
export const greatest = (a: number, b: number): number => (b > a || Number.isNaN(a) ? b : a);

export const bySum: Join = { kind: 'added', op: 'sum', combine: (a, b) => a + b };
export const byMin: Join = { kind: 'chosen', op: 'min', combine: least };
export const byMax: Join = { kind: 'chosen', op: 'max', combine: greatest };
export const byAverage: Join = {
  kind: 'divided',
  op: 'avg',
  quotient: { total: 'sum_over_time', count: 'count_over_time' },
  combine: () => undefined,
};
