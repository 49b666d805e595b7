import { textOrder, timeOrder } from '../base/order.js';
import { differing, listDifference, type Difference } from './difference.js';
import { asArray, asObject, asText, canonical } from './json.js';

interface Entry {
  readonly ns: bigint;
  /** Line, number of tuple elements and structured metadata, as one text. */
  readonly text: string;
}

/** The limit of lines and the order that were asked for. */
export interface LinesAsked {
  readonly limit: number;
  readonly isForward: boolean;
}

/** Compares log lines: the same entries in each stream, in the order that was asked for. Entries of one time may come in any order. */
export function compareStreams(
  { limit, isForward }: LinesAsked,
  reference: unknown,
  candidate: unknown,
): Difference | undefined {
  const [streams, others] = [byLabels(reference), byLabels(candidate)];
  const [entries, otherEntries] = [[...streams.values()].flat(), [...others.values()].flat()];
  const labels = listDifference('streams', [...streams.keys()], [...others.keys()]);
  if (entries.length !== otherEntries.length)
    return differing(
      'number of entries',
      `${entries.length}${labels === undefined ? '' : ` in streams with ${labels.reference}`}`,
      `${otherEntries.length}${labels === undefined ? '' : ` in streams with ${labels.candidate}`}`,
    );
  const unordered = [...others].find(([, own]) => !isOrdered(own, isForward));
  if (unordered !== undefined) return differing('order', 'by time', 'entries out of order', unordered[0]);
  // Where the limit cuts, either of several entries of one time may be left out.
  const cutNs = entries.length === limit ? lastTime(entries, isForward) : undefined;
  if (cutNs !== undefined) {
    const [atCut, othersAtCut] = [entries, otherEntries].map(
      (all) => all.filter(({ ns }) => ns === cutNs).length,
    );
    if (atCut !== othersAtCut)
      return differing('number of entries', `${atCut} at the limit`, `${othersAtCut} at the limit`);
  }
  if (labels !== undefined && cutNs === undefined) return labels;
  for (const key of new Set([...streams.keys(), ...others.keys()])) {
    const difference = compareEntries(
      sorted(streams.get(key) ?? [], cutNs),
      sorted(others.get(key) ?? [], cutNs),
    );
    if (difference !== undefined) return { ...difference, where: key };
  }
  return undefined;
}

function byLabels(result: unknown): Map<string, Entry[]> {
  const streams = new Map<string, Entry[]>();
  for (const item of asArray(result)) {
    const stream = asObject(item);
    const key = canonical(stream['stream']);
    const entries = streams.get(key) ?? [];
    streams.set(key, entries);
    for (const value of asArray(stream['values'])) {
      const tuple = asArray(value);
      const groups = asObject(tuple[2]);
      const shown = {
        structuredMetadata: groups['structuredMetadata'] ?? {},
        parsed: groups['parsed'] ?? {},
      };
      entries.push({
        ns: timeOf(tuple[0]),
        text: `${tuple.length} ${canonical(tuple[1])} ${canonical(shown)}`,
      });
    }
  }
  return streams;
}

/** Nanoseconds of a timestamp; an answer that is not Loki's may have anything there. */
function timeOf(timestamp: unknown): bigint {
  const text = asText(timestamp);
  return /^-?\d{1,30}$/.test(text) ? BigInt(text) : -1n;
}

function isOrdered(entries: readonly Entry[], isForward: boolean): boolean {
  return entries.every(({ ns }, index) => {
    const before = entries[index - 1]?.ns ?? ns;
    return isForward ? before <= ns : before >= ns;
  });
}

function lastTime(entries: readonly Entry[], isForward: boolean): bigint | undefined {
  return entries.reduce<bigint | undefined>(
    (last, { ns }) => (last === undefined || (isForward ? ns > last : ns < last) ? ns : last),
    undefined,
  );
}

function sorted(entries: readonly Entry[], cutNs: bigint | undefined): readonly string[] {
  return entries
    .filter(({ ns }) => ns !== cutNs)
    .sort((a, b) => timeOrder(a.ns, b.ns) || textOrder(a.text, b.text))
    .map(({ ns, text }) => `${ns} ${text}`);
}

function compareEntries(reference: readonly string[], candidate: readonly string[]): Difference | undefined {
  if (reference.length !== candidate.length)
    return differing('number of entries', String(reference.length), String(candidate.length));
  const index = reference.findIndex((text, at) => text !== candidate[at]);
  return index < 0 ? undefined : differing('entry', reference[index] ?? '', candidate[index] ?? '');
}
