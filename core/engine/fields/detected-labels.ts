import type { DetectedLabelsAnswer } from '../../wire/answer/types.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Backend } from '../backend.js';
import { isRelevantLabel } from './id-like.js';
import type { DetectedLabelsPlan } from '../plan/types.js';
import { streamsOf } from '../listings/listings.js';

/** The labels of the selected streams with their values, without labels that only hold ids. */
export async function answerDetectedLabels(
  { filter }: DetectedLabelsPlan,
  { range }: { readonly range: TimeRange },
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
