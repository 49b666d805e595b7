import type { RangeAggregation, Stage } from '../../../../logql/ast.js';
import type { LeafCount } from '../../leaf-push.js';
import { kindOfRule } from '../rule.js';

/** What matters of a range aggregation for whether the backend can count its samples. */
export interface LeafFacts extends Pick<LeafCount, 'names' | 'stageNames' | 'stages'> {
  readonly range: RangeAggregation;
  /** Undefined for functions of values. */
  readonly measure: LeafCount['measure'] | undefined;
  /** Those of the stages that read or change the line, or make labels by templates. */
  readonly lineStages: readonly Stage[];
}

/**
 * Defines a rule about a range aggregation. Exact: groups of the backend tell all there is to count. Superset: they leave some lines
 * to look at.
 */
export const metricRule = kindOfRule<LeafFacts, LeafCount>();

/** What is counted by groups alone; undefined for functions of values. */
export function countOf({ measure, names, stageNames, stages }: LeafFacts): LeafCount | undefined {
  return measure === undefined ? undefined : { measure, names, stageNames, stages };
}
