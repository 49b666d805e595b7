import type { VectorOp } from '../ast.js';

/**
 * How values in parts of the logs, by shards, by time or by tenants, become the value of all of them. A range function and the aggregation
 * that joins its values have the same one.
 */
export interface Join {
  /** True when parts are added up, which may be done with samples; whether one of them is the value; or whether it is a sum over a count. */
  readonly kind: 'added' | 'chosen' | 'divided';
  readonly op: VectorOp;
  /** The value of two parts; undefined where it takes more than their values. */
  combine(a: number, b: number): number | undefined;
}

/** The least or the greatest of values: NaN only when there is nothing else. */
export const least = (a: number, b: number): number => (b < a || Number.isNaN(a) ? b : a);
export const greatest = (a: number, b: number): number => (b > a || Number.isNaN(a) ? b : a);

export const bySum: Join = { kind: 'added', op: 'sum', combine: (a, b) => a + b };
export const byMin: Join = { kind: 'chosen', op: 'min', combine: least };
export const byMax: Join = { kind: 'chosen', op: 'max', combine: greatest };
export const byAverage: Join = { kind: 'divided', op: 'avg', combine: () => undefined };
