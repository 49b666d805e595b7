import type { LabelSet } from '../labels/label-set.js';
import { LabelsMerger } from './merged-labels.js';
import type { Entry, StreamResult } from './types.js';

/**
 * Adds the `result` array of a log answer with 3-tuples to a text in parts: index labels on the stream, the other groups on each
 * entry. Parts are joined once, by the caller: answers are large, and every text made on the way is another copy.
 */
export function addCategorized(parts: string[], streams: readonly StreamResult[]): void {
  parts.push('[');
  const ordered = inLabelOrder(streams, ({ labels }) => labels.json);
  for (const [index, { labels, entries }] of ordered.entries()) {
    addHead(parts, index === 0, labels.json);
    for (const [at, entry] of entries.entries()) addCategorizedEntry(parts, at === 0, entry);
    parts.push(']}');
  }
  parts.push(']');
}

/** The entries of one merged stream, in the order they came. */
interface Group {
  /** The merged labels as JSON. */
  readonly labels: string;
  readonly entries: Entry[];
}

/** Adds the `result` array with 2-tuples: all groups of labels are merged into `stream`, which splits the streams. */
export function addMerged(parts: string[], streams: readonly StreamResult[], isForward: boolean): void {
  const groups = new Map<string, Group>();
  for (const stream of streams) group(stream, groups);
  parts.push('[');
  let isFirst = true;
  for (const { labels, entries } of inLabelOrder([...groups.values()], (each) => each.labels)) {
    addHead(parts, isFirst, labels);
    isFirst = false;
    for (const [at, { timestampNs, line }] of inOrder(entries, isForward).entries())
      parts.push(at === 0 ? '["' : ',["', timestampNs.toString(), '",', JSON.stringify(line), ']');
    parts.push(']}');
  }
  parts.push(']');
}

function group(stream: StreamResult, groups: Map<string, Group>): void {
  const merger = new LabelsMerger(stream.labels);
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
    const labels = merger.json(structuredMetadata, parsed);
    let group = groups.get(labels);
    if (group === undefined) groups.set(labels, (group = { labels, entries: [entry] }));
    else group.entries.push(entry);
    known.set(shared, { parsed: other, group });
  }
}

/**
 * Streams as the reference orders them: by the text `{name="value", ...}` of their labels, whatever the direction. Clients that lay
 * entries of one instant in the order they came (logcli) show them in this order.
 */
function inLabelOrder<Stream>(
  streams: readonly Stream[],
  jsonOf: (stream: Stream) => string,
): readonly Stream[] {
  if (streams.length < 2) return streams;
  // JSON sorts alike, but for what ends a name: `app=` stands behind `app1=`. Within a value the quotes are escaped.
  const keyed = streams.map((stream) => ({ stream, key: jsonOf(stream).replaceAll('":"', '=') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ stream }) => stream);
}

/** Entries of several streams may meet in one merged stream; then their order has to be made. */
function inOrder(entries: readonly Entry[], isForward: boolean): readonly Entry[] {
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
