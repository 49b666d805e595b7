import { asArray, asObject, asText, canonical, setDifference, type Json } from './json.js';

/** detected_labels: names and about the cardinality; detected_fields: labels with type, parsers and path. */
export function compareDetected(
  path: 'detected_labels' | 'detected_fields',
  wanted: Json,
  got: Json,
): string | undefined {
  return path === 'detected_labels' ? compareLabels(wanted, got) : compareFields(wanted, got);
}

function compareLabels(wanted: Json, got: Json): string | undefined {
  const [wantedItems, gotItems] = [byLabel(wanted['detectedLabels']), byLabel(got['detectedLabels'])];
  const names = setDifference([...wantedItems.keys()], [...gotItems.keys()]);
  if (names !== undefined) return names;
  for (const [name, item] of wantedItems) {
    const [expected, found] = [Number(item['cardinality']), Number(gotItems.get(name)?.['cardinality'])];
    if (!(Math.abs(found - expected) <= Math.max(1, 0.1 * expected)))
      return `${name}: ${found} values, Loki ${expected}`;
  }
  return undefined;
}

function compareFields(wanted: Json, got: Json): string | undefined {
  const [wantedItems, gotItems] = [byLabel(wanted['fields']), byLabel(got['fields'])];
  const names = setDifference([...wantedItems.keys()], [...gotItems.keys()]);
  if (names !== undefined) return names;
  for (const [name, item] of wantedItems) {
    const [expected, found] = [describe(item), describe(gotItems.get(name) ?? {})];
    if (expected !== found) return `${name}: ${found}, Loki ${expected}`;
  }
  return undefined;
}

function byLabel(items: unknown): ReadonlyMap<string, Json> {
  return new Map(asArray(items).map((item) => [asText(asObject(item)['label']), asObject(item)]));
}

function describe(item: Json): string {
  const parsers = item['parsers'] === null ? null : asArray(item['parsers']).map(asText).sort();
  return canonical({ type: item['type'], parsers, jsonPath: item['jsonPath'] ?? null });
}
