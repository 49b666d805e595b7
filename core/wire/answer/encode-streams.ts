import { ofKey } from '../../base/memory/byte-lru.js';
import { type Label, type LabelSet, labelsJson } from '../../base/label-set.js';
import { textOrder, timeOrder } from '../../base/order.js';
import { sortSteps, type Steps } from '../../base/pace/steps.js';
import { floorTo } from '../../base/time/index.js';
import type { TimeRange } from '../../base/time/range.js';
import { withoutInvalid } from '../../logql/pipeline/json-value.js';
import type { Direction } from '../api/request.js';
import type { BodyParts } from './packed.js';
import type { Entry, StreamResult } from './types.js';

/** Labels merged, or written, per step. */
const stepLabels = 1_000;

/**
 * The JSON of a stream's labels merged with other labels, of which later groups take precedence. Equal sets give equal texts, so it also
 * serves as the key of the merged stream. In steps, since a line may have tens of thousands of labels.
 */
export function* mergedLabelsSteps(
  base: LabelSet,
  structuredMetadata: LabelSet,
  parsed: LabelSet,
): Steps<string> {
  const over =
    parsed.size === 0
      ? structuredMetadata.labels
      : structuredMetadata.size === 0
        ? parsed.labels
        : structuredMetadata.with(parsed.labels).labels;
  if (over.length === 0) return base.json;
  const merged = yield* merge(base.labels, over);
  if (merged.length <= stepLabels) return labelsJson(merged);
  const parts: string[] = [];
  for (let at = 0; at < merged.length; at += stepLabels) {
    parts.push(labelsJson(merged.slice(at, at + stepLabels)).slice(1, -1));
    yield;
  }
  return `{${parts.join(',')}}`;
}

/** Merges two lists that are sorted by name. */
function* merge(base: readonly Label[], over: readonly Label[]): Steps<readonly Label[]> {
  const merged: Label[] = [];
  let at = 0;
  for (const label of over) {
    if (merged.length % stepLabels === stepLabels - 1) yield;
    for (let below = base[at]; below !== undefined && below[0] < label[0]; below = base[at]) {
      merged.push(shown(below));
      at += 1;
    }
    if (base[at]?.[0] === label[0]) at += 1;
    merged.push(shown(label));
  }
  merged.push(...base.slice(at).map(shown));
  return merged;
}

/** A label as shown: like Loki, with a space in place of an invalid character in stream labels, unless they are requested by category. */
function shown(label: Label): Label {
  const value = withoutInvalid(label[1]);
  return value === label[1] ? label : [label[0], value];
}

/** Labels, or entries, handled per step. */
const stepWork = 500;

/**
 * Adds the `result` array of a log answer with 3-tuples: index labels on the stream, the other groups on each entry. Answers are large, so
 * no intermediate text of the whole is built.
 */
export function* addCategorized(parts: BodyParts, streams: readonly StreamResult[]): Steps<void> {
  parts.push('[');
  const names = new Set<string>();
  const shown: Shown[] = [];
  const work = new Work();
  for (const { labels, entries } of streams) {
    yield* addNames(names, labels);
    shown.push({ json: labels.json, entries });
    if (work.isDue(labels.size)) yield;
  }
  let isFirstStream = true;
  for (const { json, entries } of yield* inLabelOrder(shown, names)) {
    addHead(parts, isFirstStream, json);
    isFirstStream = false;
    let isFirst = true;
    for (const entry of entries) {
      addCategorizedEntry(parts, isFirst, entry);
      isFirst = false;
      if (parts.isFull) {
        parts.flush();
        yield;
      }
    }
    parts.push(']}');
  }
  parts.push(']');
}

/** A stream as written. */
interface Shown {
  readonly json: string;
  readonly entries: readonly Entry[];
}

/** The entries of one merged stream, in their original order. */
interface Group {
  readonly json: string;
  readonly entries: Entry[];
}

/** Adds the `result` array with 2-tuples: all label groups are merged into `stream`, so streams are split by them. */
export function* addMerged(
  parts: BodyParts,
  streams: readonly StreamResult[],
  isForward: boolean,
): Steps<void> {
  const groups = new Map<string, Group>();
  const names = new Set<string>();
  const work = new Work();
  for (const stream of streams) yield* group(stream, groups, names, work);
  parts.push('[');
  let isFirstStream = true;
  for (const { json, entries } of yield* inLabelOrder([...groups.values()], names)) {
    addHead(parts, isFirstStream, json);
    isFirstStream = false;
    let start = '["';
    for (const { timestampNs, line } of orderedEntries(entries, isForward)) {
      parts.push(start, timestampNs.toString(), '",', JSON.stringify(line), ']');
      start = ',["';
      if (parts.isFull) {
        parts.flush();
        yield;
      }
    }
    parts.push(']}');
  }
  parts.push(']');
}

/** Counts work over many streams, to pause after each step's worth. */
class Work {
  #done = 0;

  isDue(more: number): boolean {
    this.#done += 1 + more;
    if (this.#done < stepWork) return false;
    this.#done = 0;
    return true;
  }
}

function* group(
  stream: StreamResult,
  groups: Map<string, Group>,
  names: Set<string>,
  work: Work,
): Steps<void> {
  yield* addNames(names, stream.labels);
  // Adjacent entries share most label sets, but many entries have some of their own.
  const known = new Map<LabelSet, { readonly parsed: LabelSet; readonly group: Group }>();
  if (work.isDue(stream.labels.size)) yield;
  for (const entry of stream.entries) {
    const { structuredMetadata, parsed } = entry;
    const shared = parsed.size === 0 ? structuredMetadata : parsed;
    const other = parsed.size === 0 ? parsed : structuredMetadata;
    const found = known.get(shared);
    if (found?.parsed === other) {
      found.group.entries.push(entry);
      if (work.isDue(0)) yield;
      continue;
    }
    if (work.isDue(structuredMetadata.size + parsed.size)) yield;
    yield* addNames(names, structuredMetadata);
    yield* addNames(names, parsed);
    const json = yield* mergedLabelsSteps(stream.labels, structuredMetadata, parsed);
    const group = ofKey(groups, json, () => ({ json, entries: [] }));
    group.entries.push(entry);
    known.set(shared, { parsed: other, group });
  }
}

/** Sorts the entries of a merged stream, which may come from several streams. */
export function orderedEntries(entries: readonly Entry[], isForward: boolean): readonly Entry[] {
  let before = entries[0]?.timestampNs ?? 0n;
  for (const { timestampNs } of entries) {
    if (isForward ? before > timestampNs : before < timestampNs)
      // The sort is stable: entries of one timestamp keep their order.
      return entries.toSorted(isForward ? byTime : (a, b) => byTime(b, a));
    before = timestampNs;
  }
  return entries;
}

function byTime(a: Entry, b: Entry): number {
  return timeOrder(a.timestampNs, b.timestampNs);
}

function addHead(parts: BodyParts, isFirst: boolean, labels: string): void {
  parts.push(isFirst ? '{"stream":' : ',{"stream":', labels, ',"values":[');
}

function addCategorizedEntry(parts: BodyParts, isFirst: boolean, entry: Entry): void {
  const { timestampNs, line, structuredMetadata, parsed } = entry;
  parts.push(isFirst ? '["' : ',["', timestampNs.toString(), '",', JSON.stringify(line), ',{');
  if (structuredMetadata.size > 0) parts.push('"structuredMetadata":', structuredMetadata.json);
  if (structuredMetadata.size > 0 && parsed.size > 0) parts.push(',');
  if (parsed.size > 0) parts.push('"parsed":', parsed.json);
  parts.push('}]');
}

/** Texts rewritten per step. */
const stepKeys = 64;
/** Names added per step. */
const stepNames = 1_000;
/** Matches the text between a name and its value; quotes within a value are escaped. */
const endOfName = /(?<!\\)":"/g;

/** A stream of an answer with the JSON text of its labels. */
interface WithLabels {
  readonly json: string;
}

/**
 * Sorts streams as Loki does: by the text `{name="value", ...}` of their labels, whatever the direction. Clients that show entries of one
 * timestamp in the order received (logcli) depend on it.
 * @param names every label name of the streams
 */
export function* inLabelOrder<Stream extends WithLabels>(
  streams: readonly Stream[],
  names: ReadonlySet<string>,
): Steps<readonly Stream[]> {
  if (streams.length < 2) return streams;
  const isContinued = yield* hasContinuedName(names);
  const keyed: { readonly stream: Stream; readonly key: string }[] = [];
  for (const stream of streams) {
    // JSON texts sort the same, except after a name: `app=` comes after `app1=`.
    keyed.push({ stream, key: isContinued ? stream.json.replace(endOfName, '=') : stream.json });
    if (keyed.length % stepKeys === 0) yield;
  }
  const sorted = yield* sortSteps(keyed, (a, b) => textOrder(a.key, b.key));
  return sorted.map(({ stream }) => stream);
}

/** In steps, since a line may have tens of thousands of labels. */
export function* addNames(names: Set<string>, { labels }: LabelSet): Steps<void> {
  let added = 0;
  for (const [name] of labels) {
    names.add(name);
    added += 1;
    if (added % stepNames === 0) yield;
  }
}

/** True if a name is a prefix of another one: only then the end of a name affects the order. */
function* hasContinuedName(names: ReadonlySet<string>): Steps<boolean> {
  // In sorted order, the names with a given prefix directly follow it.
  let before: string | undefined;
  for (const name of yield* sortSteps([...names], textOrder)) {
    if (before !== undefined && name.startsWith(before)) return true;
    before = name;
  }
  return false;
}

const hourNs = 3_600_000_000_000n;

/**
 * Selects the entries of a log query that the parameter `interval` keeps: entries at least an interval after the last kept one, whatever
 * their stream. Loki evaluates each clock hour separately, so the first entry of an hour is always kept.
 */
export class IntervalFilter {
  readonly #intervalNs: bigint;
  readonly #direction: Direction;
  #last: bigint | undefined;

  /** @param intervalNs 0 keeps all */
  constructor(intervalNs: bigint, direction: Direction) {
    this.#intervalNs = intervalNs;
    this.#direction = direction;
  }

  /** True if the next entry, in the direction, is kept. */
  takes(timestampNs: bigint): boolean {
    if (this.#intervalNs === 0n) return true;
    const last = this.#last;
    if (last !== undefined && floorTo(last, hourNs) === floorTo(timestampNs, hourNs)) {
      const distance = this.#direction === 'forward' ? timestampNs - last : last - timestampNs;
      if (distance < this.#intervalNs) return false;
    }
    this.#last = timestampNs;
    return true;
  }

  /** The part of a range that contains the next kept entry; it may be empty. */
  rest({ startNs, endNs }: TimeRange): TimeRange {
    const last = this.#last;
    if (last === undefined) return { startNs, endNs };
    const hour = floorTo(last, hourNs);
    if (this.#direction === 'forward') {
      const due = last + this.#intervalNs;
      return { startNs: due < hour + hourNs ? due : hour + hourNs, endNs };
    }
    const due = last - this.#intervalNs + 1n;
    return { startNs, endNs: due > hour ? due : hour };
  }
}
