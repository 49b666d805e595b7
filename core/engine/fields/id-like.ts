import { parseGoFloat } from '../../base/time/index.js';

const dashed = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
// Whatever stands around a UUID of 38 characters is taken for its brackets.
const uuid = new RegExp(`^(?:(?:urn:uuid:)?${dashed}|[^]${dashed}[^]|[0-9a-f]{32})$`, 'i');
/** Labels that clients always want to see. */
const alwaysShown: ReadonlySet<string> = new Set(['cluster', 'namespace', 'instance', 'pod']);
const switchValues: ReadonlySet<string> = new Set(['0', '1']);

/**
 * True when a label should be shown: not when all of its values are numbers or UUIDs, unless they are nothing but 0 and 1
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
