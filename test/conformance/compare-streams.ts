import type { Case } from './cases.js';
import { asArray, asObject, asText, canonical, setDifference } from './json.js';

interface Row {
  readonly ns: bigint;
  /** Line, number of tuple elements and the groups of the third element, as one text. */
  readonly text: string;
}

/** Entries by label set; the same entries in each, in the order of the direction. */
export function compareStreams(request: Case, golden: unknown, answer: unknown): string | undefined {
  const isForward = asText(request.params['direction'] ?? '').toLowerCase() === 'forward';
  const [wanted, got] = [byLabels(golden), byLabels(answer)];
  const labels = setDifference([...wanted.keys()], [...got.keys()]);
  const limit = Number(request.params['limit'] ?? 100);
  const [wantedRows, gotRows] = [[...wanted.values()].flat(), [...got.values()].flat()];
  if (wantedRows.length !== gotRows.length)
    return `${gotRows.length} entries, Loki ${wantedRows.length}; streams: ${labels ?? 'same'}`;
  const unordered = [...got].find(([, rows]) => !isOrdered(rows, isForward));
  if (unordered !== undefined) return `entries out of order in ${unordered[0]}`;
  // Where the limit cut, which of the entries of one instant are taken is free.
  const cut = wantedRows.length === limit ? lastTime(wantedRows, isForward) : undefined;
  if (cut !== undefined) {
    const atCut = (rows: readonly Row[]): number => rows.filter(({ ns }) => ns === cut).length;
    if (atCut(wantedRows) !== atCut(gotRows))
      return `${atCut(gotRows)} entries at the cut, Loki ${atCut(wantedRows)}`;
  }
  if (labels !== undefined && cut === undefined) return `streams: ${labels}`;
  for (const key of new Set([...wanted.keys(), ...got.keys()])) {
    const difference = compareRows(sorted(wanted.get(key) ?? [], cut), sorted(got.get(key) ?? [], cut));
    if (difference !== undefined) return `in ${key}: ${difference}`;
  }
  return undefined;
}

function byLabels(result: unknown): Map<string, Row[]> {
  const streams = new Map<string, Row[]>();
  for (const item of asArray(result)) {
    const stream = asObject(item);
    const key = canonical(stream['stream']);
    const rows = streams.get(key) ?? [];
    streams.set(key, rows);
    for (const value of asArray(stream['values'])) {
      const tuple = asArray(value);
      const groups = asObject(tuple[2]);
      const shown = {
        structuredMetadata: groups['structuredMetadata'] ?? {},
        parsed: groups['parsed'] ?? {},
      };
      rows.push({
        ns: BigInt(asText(tuple[0])),
        text: `${tuple.length} ${canonical(tuple[1])} ${canonical(shown)}`,
      });
    }
  }
  return streams;
}

function isOrdered(rows: readonly Row[], isForward: boolean): boolean {
  return rows.every(({ ns }, index) => {
    const before = rows[index - 1]?.ns ?? ns;
    return isForward ? before <= ns : before >= ns;
  });
}

function lastTime(rows: readonly Row[], isForward: boolean): bigint | undefined {
  return rows
    .map(({ ns }) => ns)
    .reduce<bigint | undefined>(
      (last, ns) => (last === undefined || (isForward ? ns > last : ns < last) ? ns : last),
      undefined,
    );
}

function sorted(rows: readonly Row[], cut: bigint | undefined): readonly string[] {
  const kept = rows.filter(({ ns }) => ns !== cut);
  kept.sort((a, b) => (a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : a.text < b.text ? -1 : 1));
  return kept.map(({ ns, text }) => `${ns} ${text}`);
}

function compareRows(wanted: readonly string[], got: readonly string[]): string | undefined {
  if (wanted.length !== got.length) return `${got.length} entries, Loki ${wanted.length}`;
  const index = wanted.findIndex((text, at) => text !== got[at]);
  return index < 0 ? undefined : `\n  got  ${got[index] ?? ''}\n  Loki ${wanted[index] ?? ''}`;
}
