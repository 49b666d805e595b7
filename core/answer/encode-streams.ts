import type { LabelSet } from '../labels/label-set.js';
import { addNames, inLabelOrder } from './label-order.js';
import { LabelsMerger } from './merged-labels.js';
import type { Entry, StreamResult } from './types.js';

/**
 * Adds the `result` array of a log answer with 3-tuples to a text in parts: index labels on the stream, the other groups on each
 * entry. Parts are joined once, by the caller: answers are large, and every text made on the way is another copy.
 */
export function addCategorized(parts: string[], streams: readonly StreamResult[]): void {
  parts.push('[');
  const names = new Set<string>();
  for (const { labels } of streams) addNames(names, labels);
  const shown = streams.map(({ labels, entries }) => ({ json: labels.json, entries }));
  let isFirstStream = true;
  for (const { json, entries } of inLabelOrder(shown, names)) {
    addHead(parts, isFirstStream, json);
    isFirstStream = false;
    let isFirst = true;
    for (const entry of entries) {
      addCategorizedEntry(parts, isFirst, entry);
      isFirst = false;
    }
    parts.push(']}');
  }
  parts.push(']');
}

/** The entries of one merged stream, in the order they came. */
interface Group {
  /** The merged labels. */
  readonly json: string;
  readonly entries: Entry[];
}

/** Adds the `result` array with 2-tuples: all groups of labels are merged into `stream`, which splits the streams. */
export function addMerged(parts: string[], streams: readonly StreamResult[], isForward: boolean): void {
  const groups = new Map<string, Group>();
  const names = new Set<string>();
  for (const stream of streams) group(stream, groups, names);
  parts.push('[');
  let isFirstStream = true;
  for (const { json, entries } of inLabelOrder([...groups.values()], names)) {
    addHead(parts, isFirstStream, json);
    isFirstStream = false;
    let start = '["';
    for (const { timestampNs, line } of inOrder(entries, isForward)) {
      parts.push(start, timestampNs.toString(), '",', JSON.stringify(line), ']');
      start = ',["';
    }
    parts.push(']}');
  }
  parts.push(']');
}

function group(stream: StreamResult, groups: Map<string, Group>, names: Set<string>): void {
  const merger = new LabelsMerger(stream.labels);
  addNames(names, stream.labels);
  // Entries share their label sets with others, mostly with neighbours; many have some of their own.
  const known = new Map<LabelSet, { readonly parsed: LabelSet; readonly group: Group }>();
  for (const entry of stream.entries) {
    const { structuredMetadata, parsed } = entry;
    const shared = parsed.size === 0 ? structuredMetadata : parsed;
    const other = parsed.size === 0 ? parsed : structuredMetadata;
    const found = known.get(shared);
    if (found?.parsed === other) {
      found.group.entries.push(entry);
      continue;
    }
    addNames(names, structuredMetadata);
    addNames(names, parsed);
    const json = merger.json(structuredMetadata, parsed);
    let group = groups.get(json);
    if (group === undefined) groups.set(json, (group = { json, entries: [entry] }));
    else group.entries.push(entry);
    known.set(shared, { parsed: other, group });
  }
}

/** Entries of several streams may meet in one merged stream; then their order has to be made. */
export function inOrder(entries: readonly Entry[], isForward: boolean): readonly Entry[] {
  let before = entries[0]?.timestampNs ?? 0n;
  for (const { timestampNs } of entries) {
    if (isForward ? before > timestampNs : before < timestampNs)
      // Sorting is stable: entries of one instant stay in the order they came.
      return entries.toSorted(isForward ? byTime : (a, b) => byTime(b, a));
    before = timestampNs;
  }
  return entries;
}

function byTime(a: Entry, b: Entry): number {
  return a.timestampNs < b.timestampNs ? -1 : a.timestampNs > b.timestampNs ? 1 : 0;
}

function addHead(parts: string[], isFirst: boolean, labels: string): void {
  parts.push(isFirst ? '{"stream":' : ',{"stream":', labels, ',"values":[');
}

function addCategorizedEntry(parts: string[], isFirst: boolean, entry: Entry): void {
  const { timestampNs, line, structuredMetadata, parsed } = entry;
  parts.push(isFirst ? '["' : ',["', timestampNs.toString(), '",', JSON.stringify(line), ',{');
  if (structuredMetadata.size > 0) parts.push('"structuredMetadata":', structuredMetadata.json);
  if (structuredMetadata.size > 0 && parsed.size > 0) parts.push(',');
  if (parsed.size > 0) parts.push('"parsed":', parsed.json);
  parts.push('}]');
}
