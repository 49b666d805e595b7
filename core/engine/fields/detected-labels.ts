import { ofKey } from '../../base/memory/byte-lru.js';
import type { DetectedLabelsAnswer } from '../../wire/answer/types.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Backend } from '../backend.js';
import type { SelectedRows } from '../plan/types.js';
import type { LabelSet } from '../../base/label-set.js';
import { streamsOf } from '../listings/listings.js';
import { parseGoFloat } from '../../base/time/index.js';

/** The labels of the selected streams with their values, without labels that only hold ids. */
export async function answerDetectedLabels(
  { filter }: SelectedRows,
  { range }: { readonly range: TimeRange },
  { upstream, reader }: Backend,
): Promise<DetectedLabelsAnswer> {
  return detectedLabelsOf(await streamsOf(filter, range, upstream, reader));
}

/** The labels of streams with their values, without labels that only hold ids. */
export function detectedLabelsOf(streams: readonly LabelSet[]): DetectedLabelsAnswer {
  const byLabel = new Map<string, Set<string>>();
  for (const { labels } of streams)
    for (const [label, value] of labels) ofKey(byLabel, label, () => new Set<string>()).add(value);
  const labels = [...byLabel]
    .filter(([label, values]) => isRelevantLabel(label, values))
    .map(([label, values]) => ({ label, values: [...values] }));
  return { kind: 'detected-labels', labels, warnings: [] };
}

const dashed = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
// Any two characters around a UUID of 38 characters are taken for its brackets, as in Loki.
const uuid = new RegExp(`^(?:(?:urn:uuid:)?${dashed}|[^]${dashed}[^]|[0-9a-f]{32})$`, 'i');
/** Labels that clients always want to see. */
const alwaysShown: ReadonlySet<string> = new Set(['cluster', 'namespace', 'instance', 'pod']);
const switchValues: ReadonlySet<string> = new Set(['0', '1']);

/**
 * True if a label should be shown. Labels with only numbers or only UUIDs as values are hidden, unless all values are 0 or 1
 * (docs/protocol/answers.md#detected-labels).
 */
export function isRelevantLabel(label: string, values: ReadonlySet<string>): boolean {
  if (alwaysShown.has(label)) return true;
  let isSwitch = true;
  for (const value of values) {
    if (!uuid.test(value) && parseGoFloat(value).kind === 'bad') return true;
    isSwitch &&= switchValues.has(value);
  }
  return isSwitch;
}
