/**
 * Answers as bytes, for caches. An answer of 5,000 lines is tens of thousands of objects that every garbage collection visits; packed, it
 * is one buffer that references nothing else.
 */
import { ofKey } from '../../base/memory/byte-lru.js';
import { Deserializer, Serializer } from 'node:v8';
import { type Label, LabelSet } from '../../base/label-set.js';
import { eachStep, type Steps } from '../../base/pace/steps.js';
import type { Point, SampleResult, SeriesResult } from '../../logql/metric/work.js';
import type { Answer, Entry, StreamResult } from './types.js';

/** Answers that can be cached; others are consumed once or sent as they are. */
export type CacheableAnswer = Exclude<
  Answer,
  { readonly kind: 'live' | 'tenant' | 'several' | 'encoded' | 'formatted' }
>;

export function isCacheable(answer: Answer): answer is CacheableAnswer {
  const { kind } = answer;
  return (
    kind !== 'live' && kind !== 'tenant' && kind !== 'several' && kind !== 'encoded' && kind !== 'formatted'
  );
}

/**
 * The version of the format of packed answers, for those that outlive the process. Change it with any change here, including one to the
 * meaning of an answer. The second part is the version of V8's serialization.
 */
export const packedFormat = `1.${serializationVersion()}`;

function serializationVersion(): number {
  const header = new Serializer();
  header.writeHeader();
  return header.releaseBuffer()[1] ?? 0;
}

/** The list of an answer that is written in steps, and how. */
interface Packing {
  readonly member: string;
  readonly pack: (out: Serializer, items: readonly never[]) => Steps<void>;
  readonly unpack: (packed: Deserializer, count: number) => Steps<unknown[]>;
}

const packedSeries: Packing = { member: 'series', pack: packSeries, unpack: unpackSeries };
const plainValues: Packing = { member: 'values', pack: packList, unpack: unpackList };

/** The other kinds have so few parts that they are written in one step. */
const packings: Readonly<Partial<Record<CacheableAnswer['kind'], Packing>>> = {
  streams: { member: 'streams', pack: packStreams, unpack: unpackStreams },
  matrix: packedSeries,
  volume: packedSeries,
  vector: { member: 'samples', pack: packSamples, unpack: unpackSamples },
  series: { member: 'series', pack: packLabelSets, unpack: unpackLabelSets },
  names: plainValues,
  'detected-field-values': plainValues,
  'detected-fields': { ...plainValues, member: 'fields' },
  patterns: { ...plainValues, member: 'patterns' },
};

export function* packSteps(answer: CacheableAnswer): Steps<Buffer> {
  const out = new Serializer();
  out.writeHeader();
  const packing = packings[answer.kind];
  if (packing === undefined) out.writeValue([answer, 0]);
  else {
    // The table names a member of this kind that is a list.
    const { [packing.member]: list, ...rest } = answer as unknown as Readonly<Record<string, never[]>>;
    const items = list ?? [];
    out.writeValue([rest, items.length]);
    yield* packing.pack(out, items);
  }
  return out.releaseBuffer();
}

/** Rebuilds the packed answer from new objects. */
export function* unpackSteps(bytes: Buffer): Steps<CacheableAnswer> {
  const packed = new Deserializer(bytes);
  packed.readHeader();
  // The bytes were written by this module.
  const [rest, count] = packed.readValue() as [CacheableAnswer, number];
  const packing = packings[rest.kind];
  if (packing === undefined) return rest;
  return { ...rest, [packing.member]: yield* packing.unpack(packed, count) };
}

function* partsOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += stepItems)
    yield items.length <= stepItems ? items : items.slice(from, from + stepItems);
}

function* packList(out: Serializer, items: readonly unknown[]): Steps<void> {
  for (const part of partsOf(items)) {
    out.writeValue(part);
    yield;
  }
}

function* unpackList(packed: Deserializer, count: number): Steps<unknown[]> {
  const items: unknown[] = [];
  while (items.length < count) {
    for (const item of packed.readValue() as unknown[]) items.push(item);
    yield;
  }
  return items;
}

function* packLabelSets(out: Serializer, sets: readonly LabelSet[]): Steps<void> {
  for (const part of partsOf(sets)) {
    out.writeValue(part.map(({ labels }) => labels));
    yield;
  }
}

function* unpackLabelSets(packed: Deserializer, count: number): Steps<LabelSet[]> {
  const sets: LabelSet[] = [];
  yield* eachStep(yield* unpackList(packed, count), (labels) =>
    sets.push(LabelSet.fromSorted(labels as Label[])),
  );
  return sets;
}

interface EntriesPart {
  readonly times: BigInt64Array;
  readonly lines: readonly string[];
  /** For each entry, the indexes of its sets among all sets so far; undefined if all sets are empty. */
  readonly sets: Uint32Array | undefined;
  /** Number of labels of each set that is used for the first time. Their labels follow in one list. */
  readonly added: readonly number[];
}

function* packStreams(out: Serializer, streams: readonly StreamResult[]): Steps<void> {
  const indexes = new Map<LabelSet, number>([[LabelSet.empty, 0]]);
  for (const { labels, entries } of streams) {
    out.writeValue([labels.labels, entries.length]);
    for (const part of partsOf(entries)) {
      const added: LabelSet[] = [];
      out.writeValue(entriesPart(part, indexes, added));
      yield;
      // A line may have tens of thousands of labels.
      yield* packList(
        out,
        added.flatMap(({ labels: all }) => all),
      );
    }
  }
}

function entriesPart(
  entries: readonly Entry[],
  indexes: Map<LabelSet, number>,
  added: LabelSet[],
): EntriesPart {
  const times = new BigInt64Array(entries.length);
  const sets = new Uint32Array(entries.length * 2);
  const lines: string[] = [];
  let isPlain = true;
  for (const [index, { timestampNs, line, structuredMetadata, parsed }] of entries.entries()) {
    times[index] = timestampNs;
    lines.push(line);
    if (structuredMetadata.size === 0 && parsed.size === 0) continue;
    isPlain = false;
    sets[2 * index] = indexOf(structuredMetadata, indexes, added);
    sets[2 * index + 1] = indexOf(parsed, indexes, added);
  }
  return { times, lines, sets: isPlain ? undefined : sets, added: added.map(({ size }) => size) };
}

function indexOf(set: LabelSet, indexes: Map<LabelSet, number>, added: LabelSet[]): number {
  if (set.size === 0) return 0;
  return ofKey(indexes, set, () => {
    added.push(set);
    return indexes.size;
  });
}

function* unpackStreams(packed: Deserializer, count: number): Steps<StreamResult[]> {
  const streams: StreamResult[] = [];
  const known: LabelSet[] = [LabelSet.empty];
  while (streams.length < count) {
    const [labels, length] = packed.readValue() as [Label[], number];
    const entries: Entry[] = [];
    while (entries.length < length) {
      const part = packed.readValue() as EntriesPart;
      const sizes = part.added.reduce((sum, size) => sum + size, 0);
      const added = (yield* unpackList(packed, sizes)) as Label[];
      let from = 0;
      for (const size of part.added) known.push(LabelSet.fromSorted(added.slice(from, (from += size))));
      addEntries(entries, part, known);
      yield;
    }
    streams.push({ labels: LabelSet.fromSorted(labels), entries });
  }
  return streams;
}

function addEntries(entries: Entry[], { times, lines, sets }: EntriesPart, known: readonly LabelSet[]): void {
  for (const [index, line] of lines.entries()) {
    entries.push({
      timestampNs: times[index] ?? 0n,
      line,
      structuredMetadata: known[sets?.[2 * index] ?? 0] ?? LabelSet.empty,
      parsed: known[sets?.[2 * index + 1] ?? 0] ?? LabelSet.empty,
    });
  }
}

function* packSeries(out: Serializer, all: readonly SeriesResult[]): Steps<void> {
  for (const { labels, points } of all) {
    out.writeValue([labels.labels, points.length]);
    for (const part of partsOf(points)) {
      out.writeValue(pointsPart(part));
      yield;
    }
  }
}

function* unpackSeries(packed: Deserializer, count: number): Steps<SeriesResult[]> {
  const all: SeriesResult[] = [];
  while (all.length < count) {
    const [labels, length] = packed.readValue() as [Label[], number];
    const points: Point[] = [];
    while (points.length < length) {
      points.push(...pointsOf(packed.readValue() as Float64Array));
      yield;
    }
    all.push({ labels: LabelSet.fromSorted(labels), points });
  }
  return all;
}

function* packSamples(out: Serializer, samples: readonly SampleResult[]): Steps<void> {
  for (const part of partsOf(samples)) {
    out.writeValue([part.map(({ labels }) => labels.labels), pointsPart(part.map(({ point }) => point))]);
    yield;
  }
}

function* unpackSamples(packed: Deserializer, count: number): Steps<SampleResult[]> {
  const samples: SampleResult[] = [];
  while (samples.length < count) {
    const [sets, numbers] = packed.readValue() as [Label[][], Float64Array];
    for (const [index, point] of pointsOf(numbers).entries())
      samples.push({ labels: LabelSet.fromSorted(sets[index] ?? []), point });
    yield;
  }
  return samples;
}

/** Times and values, alternating. */
function pointsPart(points: readonly Point[]): Float64Array {
  const numbers = new Float64Array(2 * points.length);
  for (const [index, { timestampMs, value }] of points.entries()) {
    numbers[2 * index] = timestampMs;
    numbers[2 * index + 1] = value;
  }
  return numbers;
}

function pointsOf(numbers: Float64Array): Point[] {
  const points: Point[] = [];
  for (let at = 0; at < numbers.length; at += 2)
    points.push({ timestampMs: numbers[at] ?? 0, value: numbers[at + 1] ?? 0 });
  return points;
}

/** Characters converted to bytes at once. */
const flushedLength = 65_536;

/** Parts joined per step: about a megabyte, because the system allocates pages on first use. */
const stepParts = 16;

/** The text of a body before it becomes bytes. It is flushed in pieces, so that the text of a large body never exists as a whole. */
export class BodyParts {
  #texts: string[] = [];
  #length = 0;
  readonly #done: Buffer[] = [];

  push(...texts: readonly string[]): void {
    for (const text of texts) {
      this.#texts.push(text);
      this.#length += text.length;
    }
  }

  get isFull(): boolean {
    return this.#length >= flushedLength;
  }

  flush(): void {
    this.#done.push(Buffer.from(this.#texts.join(''), 'utf8'));
    this.#texts = [];
    this.#length = 0;
  }

  *bytes(): Steps<Buffer> {
    this.flush();
    const [only, second] = this.#done;
    if (only !== undefined && second === undefined) return only;
    const whole = Buffer.allocUnsafe(this.#done.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const [index, part] of this.#done.entries()) {
      at += part.copy(whole, at);
      if ((index + 1) % stepParts === 0) yield;
    }
    return whole;
  }
}

/** Items printed per step. */
const stepItems = 500;

/** Adds a JSON array, with the text of each item. */
export function* addList<Item>(
  body: BodyParts,
  items: readonly Item[],
  textFor: (item: Item) => string,
): Steps<void> {
  body.push('[');
  for (let from = 0; from < items.length; from += stepItems) {
    const part = items.length <= stepItems ? items : items.slice(from, from + stepItems);
    body.push(from === 0 ? '' : ',', part.map(textFor).join(','));
    if (body.isFull) {
      body.flush();
      yield;
    }
  }
  body.push(']');
}
