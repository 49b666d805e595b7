import { parseGoFloat } from '../../base/time/index.js';

const uuid = /^(?:urn:uuid:|\{)?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$/i;
/** Labels that clients always want to see. */
const alwaysShown: ReadonlySet<string> = new Set(['cluster', 'namespace', 'instance', 'pod']);

/** Whether a label should be shown: not when all of its values are numbers or UUIDs (docs/protocol/answers.md#detected-labels). */
export function isRelevantLabel(label: string, values: Iterable<string>): boolean {
  if (alwaysShown.has(label)) return true;
  for (const value of values) if (!uuid.test(value) && parseGoFloat(value).kind === 'bad') return true;
  return false;
}
