import type { Cost } from '../../../base/trace.js';
import { millisecondsOf, noEstimates } from '../../metric/cost.js';
import { declineReasons, isDeclined, type DeclineReason } from '../../metric/declined.js';
import { strategies } from '../../metric/strategies.js';
import type { LeafPlan } from '../types.js';

/** A strategy, and whether the plan of a range aggregation allows it. */
export interface ExplainedStrategy {
  readonly strategy: string;
  /** The reason why it is not tried, which does not depend on stored data. */
  readonly declined?: DeclineReason;
  /** The estimated cost; most of it is unknown without calling the backend. */
  readonly cost?: Cost;
  /** The summary of the strategy, or an explanation of the reason. */
  readonly text: string;
}

/** The strategies as decided by the plan alone, with the excluded ones at the end; stored data may exclude further ones. */
export function explainStrategies(leaf: LeafPlan): readonly ExplainedStrategy[] {
  const candidates: ExplainedStrategy[] = [];
  const others: ExplainedStrategy[] = [];
  for (const { name, summary, estimate } of strategies) {
    const estimated = estimate(leaf, noEstimates);
    if (!isDeclined(estimated)) candidates.push({ strategy: name, cost: estimated.cost, text: summary });
    else {
      const { declined } = estimated;
      others.push({ strategy: name, declined, text: declineReasons[declined] });
    }
  }
  return [...candidates, ...others];
}

/** A cost in words; an unknown cost is described by its inputs. */
export function costText(cost: Cost): string {
  const { calls, scannedRows, splitsLines, sends, sentRows, sentBytes, proofRows } = cost;
  const ms = millisecondsOf(cost);
  const read = scannedRows === undefined ? 'the selected rows' : `${scannedRows} rows`;
  return [
    `${calls} ${calls === 1 ? 'call' : 'calls'}`,
    `${splitsLines ? 'parses the lines of' : 'reads'} ${read}`,
    proofRows === undefined ? 'checks the new rows' : `checks ${proofRows} new rows`,
    `sends ${sentRows ?? sentTexts[sends]}${sentRows === undefined ? '' : ` ${sends}`}`,
    ...(sentBytes === undefined ? [] : [`${Math.round(sentBytes)} bytes`]),
    ...(ms === undefined ? [] : [`about ${Math.ceil(ms)} ms`]),
  ].join(', ');
}

const sentTexts = { groups: 'groups × intervals', rows: 'the rows that pass the filter' } as const;
