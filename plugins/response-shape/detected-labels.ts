import type { DetectedLabelsAnswer } from '../../core/answer/types.js';
import type { TimeRange } from '../../core/api/request.js';
import { isRelevantLabel } from '../../core/discovery/id-like.js';
import type { DetectedLabelsPlan } from '../../core/plan/types.js';
import { streamsOf, type Backend } from './listings.js';

/** The labels of the selected streams with their values, without those that only hold ids. */
export async function answerDetectedLabels(
  { filter }: DetectedLabelsPlan,
  range: TimeRange,
  { upstream, reader }: Backend,
): Promise<DetectedLabelsAnswer> {
  const byLabel = new Map<string, Set<string>>();
  for (const stream of await streamsOf(filter, range, upstream, reader))
    for (const [label, value] of stream.labels) {
      const values = byLabel.get(label);
      if (values === undefined) byLabel.set(label, new Set([value]));
      else values.add(value);
    }
  const labels = [...byLabel]
    .filter(([label, values]) => isRelevantLabel(label, values))
    .map(([label, values]) => ({ label, values: [...values] }));
  return { kind: 'detected-labels', labels, warnings: [] };
}
