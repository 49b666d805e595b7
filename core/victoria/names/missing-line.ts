import { labelsJson } from '../../base/label-set.js';

/** The text that VictoriaLogs stores as `_msg` for a row without one (its `-defaultMsgValue`). */
export const defaultMissingText =
  'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';

/** Rebuilds the line of a row without one: a JSON object of its fields, sorted by name; without fields, an empty line. */
export function rebuildLine(fields: Iterable<readonly [name: string, value: string]>): string {
  const sorted = [...fields].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  if (sorted.length === 0) return '';
  return labelsJson(sorted);
}
