import type { VectorOp } from '../ast.js';

/**
 * How values in parts of the logs, by shards, by time or by tenants, become the value of all of them. A range function and the aggregation
 * that joins its values have the same one.
 */
export interface Join {
  /** Whether parts are added up, which may be done with samples; whether one of them is the value; or whether it is a sum over a count. */
  readonly kind: 'added' | 'chosen' | 'divided';
  readonly op: VectorOp;
  /** The value of two parts; undefined where it takes more than their values. */
  combine(a: number, b: number): number | undefined;
}

export const bySum: Join = { kind: 'added', op: 'sum', combine: (a, b) => a + b };
export const byMin: Join = { kind: 'chosen', op: 'min', combine: Math.min };
export const byMax: Join = { kind: 'chosen', op: 'max', combine: Math.max };
export const byAverage: Join = { kind: 'divided', op: 'avg', combine: () => undefined };
