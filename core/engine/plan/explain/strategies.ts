import { declineReasons, isDeclined, type DeclineReason } from '../../metric/declined.js';
import { strategies } from '../../metric/strategies.js';
import type { LeafPlan } from '../types.js';

/** A strategy, and whether the plan of a range aggregation lets it be tried. */
export interface ExplainedStrategy {
  readonly strategy: string;
  /** Why it is not tried, whatever is stored. */
  readonly declined?: DeclineReason;
  /** What it does, or what the reason means. */
  readonly text: string;
}

/** The strategies as far as the plan alone decides; what is stored may exclude others. */
export function explainStrategies(leaf: LeafPlan): readonly ExplainedStrategy[] {
  return strategies.map(({ name, summary, prepare }) => {
    const prepared = prepare(leaf);
    if (!isDeclined(prepared)) return { strategy: name, text: summary };
    const { declined } = prepared;
    return { strategy: name, declined, text: declineReasons[declined] };
  });
}
