import type { Direction } from '../../api/request.js';
import type { LabelSet } from '../../../base/label-set.js';
import { ofKey } from '../../../base/memory/byte-lru.js';
import { textOrder, timeOrder } from '../../../base/order.js';
import { eachStep, sortSteps, type Steps } from '../../../base/pace/steps.js';
import type { Entry, StreamResult, StreamsAnswer } from '../types.js';
import { mergeStats, mergeWarnings } from './shared.js';

/** Options of a merge of entries. */
export interface MergeOptions {
  readonly direction: Direction;
  /** Maximum number of entries over all streams; undefined keeps all entries. */
  readonly limit?: number;
  /** `keep` (default) keeps equal entries of different parts; `dedupe` is for parts whose ranges overlap. */
  readonly overlap?: 'keep' | 'dedupe';
}

/** One stream while it is merged. */
interface Gathered {
  readonly labels: LabelSet;
  readonly entries: Entry[];
}

/**
 * Joins streams with the same labels, sorts their entries by direction (equal timestamps in the order of the parts) and applies the limit
 * over all streams. At the same timestamp, streams whose key sorts first keep their entries.
 */
export function* mergeStreams(
  answers: readonly StreamsAnswer[],
  options: MergeOptions,
): Steps<StreamsAnswer> {
  const gathered = yield* options.overlap === 'dedupe' ? gatherOnce(answers) : gatherAll(answers);
  const streams = yield* cut(gathered, comparerOf(options.direction), options.limit);
  const entriesReturned = streams.reduce((sum, stream) => sum + stream.entries.length, 0);
  return {
    kind: 'streams',
    streams,
    stats: { ...mergeStats(answers.map((answer) => answer.stats)), entriesReturned },
    warnings: mergeWarnings(answers),
  };
}

type Compare = (a: Entry, b: Entry) => number;

function comparerOf(direction: Direction): Compare {
  const forward: Compare = (a, b) => timeOrder(a.timestampNs, b.timestampNs);
  return direction === 'forward' ? forward : (a, b) => forward(b, a);
}

function* gatherAll(answers: readonly StreamsAnswer[]): Steps<Map<string, Gathered>> {
  const byKey = new Map<string, Gathered>();
  for (const stream of answers.flatMap((answer) => answer.streams)) {
    const { entries } = gatheredOf(byKey, stream.labels);
    yield* eachStep(stream.entries, (entry) => entries.push(entry));
  }
  return byKey;
}

/** Gathers each entry as often as it occurs in the part that has it most often, so that real duplicates are kept. */
function* gatherOnce(answers: readonly StreamsAnswer[]): Steps<Map<string, Gathered>> {
  const byKey = new Map<string, Gathered>();
  const kept = new Map<string, number>();
  for (const answer of answers) {
    const seen = new Map<string, number>();
    for (const stream of answer.streams) {
      const { entries } = gatheredOf(byKey, stream.labels);
      yield* eachStep(stream.entries, (entry) => {
        const identity = identityOf(stream.labels, entry);
        const occurrence = (seen.get(identity) ?? 0) + 1;
        seen.set(identity, occurrence);
        if (occurrence <= (kept.get(identity) ?? 0)) return;
        kept.set(identity, occurrence);
        entries.push(entry);
      });
    }
  }
  return byKey;
}

function identityOf(labels: LabelSet, entry: Entry): string {
  // The keys of label sets include their lengths and the line comes last, so distinct entries have distinct texts.
  return `${entry.timestampNs} ${labels.key} ${entry.structuredMetadata.key} ${entry.parsed.key} ${entry.line}`;
}

function gatheredOf(byKey: Map<string, Gathered>, labels: LabelSet): Gathered {
  return ofKey(byKey, labels.key, () => ({ labels, entries: [] }));
}

/** Sorts entries, applies the limit and sorts streams by their first entry, as Loki does. */
function* cut(
  gathered: ReadonlyMap<string, Gathered>,
  compare: Compare,
  limit: number | undefined,
): Steps<readonly StreamResult[]> {
  const all: { readonly labels: LabelSet; readonly entry: Entry }[] = [];
  for (const [, { labels, entries }] of [...gathered].sort(([a], [b]) => textOrder(a, b)))
    yield* eachStep(entries, (entry) => all.push({ labels, entry }));
  const sorted = yield* sortSteps(all, (a, b) => compare(a.entry, b.entry));
  const byKey = new Map<string, Gathered>();
  yield* eachStep(sorted.slice(0, limit), ({ labels, entry }) =>
    gatheredOf(byKey, labels).entries.push(entry),
  );
  return [...byKey.values()];
}
