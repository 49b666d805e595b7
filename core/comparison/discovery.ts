import { differing, listDifference, type Difference } from './difference.js';
import { asArray, asObject, asText, canonical, type Json } from './json.js';

/** Compares detected labels: the same names, and about the same number of values, which Loki estimates. */
export function compareDetectedLabels(reference: Json, candidate: Json): Difference | undefined {
  const [items, others] = [byLabel(reference['detectedLabels']), byLabel(candidate['detectedLabels'])];
  const names = listDifference('list', [...items.keys()], [...others.keys()]);
  if (names !== undefined) return names;
  for (const [name, item] of items) {
    const [expected, found] = [Number(item['cardinality']), Number(others.get(name)?.['cardinality'])];
    if (!(Math.abs(found - expected) <= Math.max(1, 0.1 * expected)))
      return differing('field', `${expected} values`, `${found} values`, name);
  }
  return undefined;
}

/** Compares detected fields: the same names, types, parsers and paths. */
export function compareDetectedFields(reference: Json, candidate: Json): Difference | undefined {
  const [items, others] = [byLabel(reference['fields']), byLabel(candidate['fields'])];
  const names = listDifference('list', [...items.keys()], [...others.keys()]);
  if (names !== undefined) return names;
  for (const [name, item] of items) {
    const [expected, found] = [describe(item), describe(others.get(name) ?? {})];
    if (expected !== found) return differing('field', expected, found, name);
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

/** Compares patterns, which depend on the order of arrival: both have some, numbers of lines agree within 20 %, a third of the texts is shared. */
export function comparePatterns(reference: Json, candidate: Json): Difference | undefined {
  const [items, others] = [
    asArray(reference['data']).map(asObject),
    asArray(candidate['data']).map(asObject),
  ];
  const counts = differing('patterns', `${items.length} patterns`, `${others.length} patterns`);
  if ((items.length === 0) !== (others.length === 0)) return counts;
  if (items.length === 0) return undefined;
  const [lines, otherLines] = [linesIn(items), linesIn(others)];
  if (Math.abs(otherLines - lines) > 0.2 * lines)
    return differing('patterns', `patterns of ${lines} lines`, `patterns of ${otherLines} lines`);
  const texts = new Set(others.map((item) => asText(item['pattern'])));
  const shared = items.filter((item) => texts.has(asText(item['pattern']))).length;
  return shared >= 0.3 * items.length
    ? undefined
    : differing('patterns', `${items.length} patterns`, `${shared} of them`);
}

function linesIn(items: readonly Json[]): number {
  return items
    .flatMap((item) => asArray(item['samples']))
    .reduce<number>((sum, sample) => sum + Number(asArray(sample)[1]), 0);
}
