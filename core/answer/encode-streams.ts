import type { LabelSet } from '../labels/label-set.js';
import { LabelsMerger } from './merged-labels.js';
import type { Entry, StreamResult } from './types.js';

/** The `result` array of a log answer with 3-tuples: index labels on the stream, the other groups on each entry. */
export function encodeCategorized(streams: readonly StreamResult[]): string {
  const parts = streams.map(({ labels, entries }) => streamText(labels.json, entries.map(categorizedEntry)));
  return `[${parts.join(',')}]`;
}

interface Group {
  /** The merged labels as JSON. */
  readonly labels: string;
  readonly texts: string[];
  readonly times: bigint[];
}

/** The `result` array with 2-tuples: all groups of labels are merged into `stream`, which splits the streams. */
export function encodeMerged(streams: readonly StreamResult[], isForward: boolean): string {
  const groups = new Map<string, Group>();
  for (const stream of streams) {
    // Most entries share their label sets with others, so the merge is done once per pair of sets.
    const known = new Map<LabelSet, Map<LabelSet, Group>>();
    const merger = new LabelsMerger(stream.labels);
    for (const entry of stream.entries) {
      let byParsed = known.get(entry.structuredMetadata);
      if (byParsed === undefined)
        known.set(entry.structuredMetadata, (byParsed = new Map<LabelSet, Group>()));
      let group = byParsed.get(entry.parsed);
      if (group === undefined)
        byParsed.set(
          entry.parsed,
          (group = groupOf(groups, merger.json(entry.structuredMetadata, entry.parsed))),
        );
      group.texts.push(`["${entry.timestampNs}",${JSON.stringify(entry.line)}]`);
      group.times.push(entry.timestampNs);
    }
  }
  const parts = [...groups.values()].map((group) => streamText(group.labels, inOrder(group, isForward)));
  return `[${parts.join(',')}]`;
}

function groupOf(groups: Map<string, Group>, labels: string): Group {
  let group = groups.get(labels);
  if (group === undefined) groups.set(labels, (group = { labels, texts: [], times: [] }));
  return group;
}

/** Entries of several streams may meet in one merged stream; then their order has to be made. */
function inOrder({ texts, times }: Group, isForward: boolean): readonly string[] {
  const goesOn = (index: number): boolean => {
    const [before = 0n, at = 0n] = [times[index - 1], times[index]];
    return isForward ? before <= at : before >= at;
  };
  if (times.every((_time, index) => index === 0 || goesOn(index))) return texts;
  const order = times.map((time, index) => ({ time, index }));
  order.sort((a, b) => (a.time === b.time ? a.index - b.index : a.time < b.time === isForward ? -1 : 1));
  return order.map(({ index }) => texts[index] ?? '');
}

function streamText(labels: string, entries: readonly string[]): string {
  return `{"stream":${labels},"values":[${entries.join(',')}]}`;
}

function categorizedEntry({ timestampNs, line, structuredMetadata, parsed }: Entry): string {
  const metadata = structuredMetadata.size === 0 ? '' : `"structuredMetadata":${structuredMetadata.json}`;
  const extracted = parsed.size === 0 ? '' : `"parsed":${parsed.json}`;
  const comma = metadata !== '' && extracted !== '' ? ',' : '';
  return `["${timestampNs}",${JSON.stringify(line)},{${metadata}${comma}${extracted}}]`;
}
