/**
 * Heterogeneous benchmark logs: 77 streams over three hours, the same in every run. Nearly all lines differ by more than numbers, most have
 * no stored level, some have several lines or tens of kilobytes, and a few were pushed twice.
 */
import { chances } from './chances.js';
import { mixedKinds, type LogKind } from './mixed-kinds.js';
import type { PushedStream } from './fill.js';

export const mixedStartMs = Date.UTC(2026, 10, 1);
export const mixedEndMs = mixedStartMs + 3 * 3_600_000;

const batchLines = 2_000;
const seed = 20_261_101;
/** The share of lines that are pushed again, and of lines with the same timestamp as the previous one. */
const repeated = 0.0002;
const sharesTime = 0.003;
const nsPerMs = 1_000_000;

/** Batches for Loki's push API with `lines` lines in total. */
export function* mixedBatches(lines: number): Generator<readonly PushedStream[]> {
  const chance = chances(seed);
  const sources = mixedKinds.flatMap((kind) =>
    Array.from({ length: kind.streams }, (_, index) => ({ kind, labels: labelsOf(kind, index) })),
  );
  const weighted = sources.map((source): [typeof source, number] => [
    source,
    source.kind.weight / source.kind.streams,
  ]);
  const spanMs = mixedEndMs - mixedStartMs;
  let batch = new Map<object, PushedStream>();
  let timestampNs = '';
  for (let index = 0; index < lines; index += 1) {
    const source = chance.weighted(weighted);
    const atMs = mixedStartMs + Math.floor((index / lines) * spanMs);
    if (timestampNs === '' || !chance.happens(sharesTime))
      timestampNs = `${atMs}${String(chance.whole(0, nsPerMs - 1)).padStart(6, '0')}`;
    const target = batch.get(source) ?? { stream: source.labels, values: [] };
    batch.set(source, target);
    const { line, metadata } = source.kind;
    const entry = [timestampNs, line(chance, atMs), metadata?.(chance) ?? {}] as const;
    target.values.push(entry);
    if (index + 1 < lines && chance.happens(repeated)) {
      target.values.push(entry);
      index += 1;
    }
    if (index % batchLines === batchLines - 1) {
      yield [...batch.values()];
      batch = new Map();
    }
  }
  if (batch.size > 0) yield [...batch.values()];
}

function labelsOf({ labels, instance }: LogKind, index: number): Readonly<Record<string, string>> {
  const namespaces = ['shop', 'search', 'billing', 'platform', 'edge'];
  return {
    cluster: index % 3 === 0 ? 'west-2' : 'north-1',
    namespace: namespaces[index % namespaces.length] ?? '',
    ...labels,
    [instance]: `${labels['service_name'] ?? labels['app'] ?? labels['job'] ?? 'node'}-${index}`,
  };
}
