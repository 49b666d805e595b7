import type { Cost } from '../../../base/trace.js';
import type { Columns } from '../../../logql/metric/index.js';
import type { ReadStrategy } from '../../metric/context.js';
import { rangeBuckets } from '../../metric/count/counting.js';
import {
  type DeclineReason,
  declineReasons,
  isDeclined,
  millisecondsOf,
  noEstimates,
  type RowEstimates,
} from '../../metric/cost.js';
import { inOrderOfCost, strategies, type Estimated } from '../../metric/strategies.js';
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

/** Facts about the rows of a leaf, and about the times at which it is evaluated, before it is read. */
export interface KnownOfLeaf {
  readonly rows?: Partial<RowEstimates>;
  readonly columns?: Columns;
}

/**
 * The strategies as decided by the plan and by what is known, in the order of attempts, with the excluded ones at the end; stored data may
 * exclude further ones.
 */
export function explainStrategies(leaf: LeafPlan, known: KnownOfLeaf = {}): readonly ExplainedStrategy[] {
  const ordered = inOrderOfCost(strategies.map((one) => estimated(one, leaf, known)));
  const explained = ordered.map(({ strategy: { name, summary }, estimate }): ExplainedStrategy => {
    if (!isDeclined(estimate)) return { strategy: name, cost: estimate.cost, text: summary };
    const { declined } = estimate;
    return { strategy: name, declined, text: declineReasons[declined] };
  });
  return explained.sort((a, b) => Number('declined' in a) - Number('declined' in b));
}

function estimated(strategy: ReadStrategy, leaf: LeafPlan, { rows, columns }: KnownOfLeaf): Estimated {
  const estimate = strategy.estimate(leaf, { ...noEstimates, ...rows });
  if (isDeclined(estimate) || columns === undefined || !strategy.usesBuckets) return { strategy, estimate };
  const buckets = rangeBuckets(columns, leaf.range.range);
  return { strategy, estimate: isDeclined(buckets) ? buckets : estimate };
}

/** The strategy that reads a leaf unless stored data excludes it; undefined for a log query. */
export function firstStrategy(strategies: readonly ExplainedStrategy[] = []): ExplainedStrategy | undefined {
  return strategies.find(({ declined }) => declined === undefined);
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
