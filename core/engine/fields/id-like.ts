import { parseGoFloat } from '../../base/time/index.js';

const uuid = /^(?:urn:uuid:|\{)?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$/i;
/** Labels that clients want to see whatever their values are. */
const alwaysShown: ReadonlySet<string> = new Set(['cluster', 'namespace', 'instance', 'pod']);

/**
 * True for a label that is worth showing: not one whose values are all numbers or UUIDs (docs/protocol/answers.md#detected-labels).
 */
export function isRelevantLabel(label: string, values: Iterable<string>): boolean {
  if (alwaysShown.has(label)) return true;
  for (const value of values) if (!uuid.test(value) && parseGoFloat(value).kind === 'bad') return true;
  return false;
}
