import type { LabelSet } from '../../../base/label-set.js';
import { atPace, doAll, type Pacer, type Steps } from '../../../base/pace/steps.js';
import type { Answer, Entry } from '../types.js';

/** Bytes of an object, its properties and its array slot, in addition to its text. */
const objectBytes = 64;
const pointBytes = 40;

/** Streams, entries, series or values measured per step. */
const stepItems = 500;

/** Known sizes. An answer never changes, and several callers need its size. */
const known = new WeakMap<Answer, number>();

/**
 * The approximate bytes of an answer in memory and, close enough for a safety limit, on the wire. Text counts one byte per UTF-16 unit,
 * which is what V8 uses for Latin-1 text, and logs mostly are. Linear in entries and labels, without encoding anything.
 */
export function answerBytes(answer: Answer): number {
  return known.get(answer) ?? doAll(weighed(answer));
}

/** As `answerBytes`, with pauses for other work; `answerBytes` is then immediate. */
export async function weighAnswer(answer: Answer, pacer: Pacer): Promise<number> {
  return known.get(answer) ?? atPace(weighed(answer), pacer);
}

function* weighed(answer: Answer): Steps<number> {
  const bytes = yield* bytesOf(answer);
  known.set(answer, bytes);
  return bytes;
}

function* bytesOf(answer: Answer): Steps<number> {
  switch (answer.kind) {
    case 'streams': {
      let bytes = objectBytes;
      for (const [index, { labels, entries }] of answer.streams.entries()) {
        bytes += labelsBytes(labels) + (yield* totalSteps(entries, entryBytes));
        if ((index + 1) % stepItems === 0) yield;
      }
      return bytes;
    }
    case 'names':
      return yield* totalSteps(answer.values, (value) => objectBytes + value.length);
    case 'series':
      return yield* totalSteps(answer.series, labelsBytes);
    case 'matrix':
    case 'volume':
      return yield* totalSteps(
        answer.series,
        (series) => labelsBytes(series.labels) + series.points.length * pointBytes,
      );
    case 'vector':
      return yield* totalSteps(answer.samples, (sample) => labelsBytes(sample.labels) + pointBytes);
    case 'detected-fields':
      return total(answer.fields, ({ label, values }) => label.length + textsBytes(values));
    case 'detected-field-values':
      return textsBytes(answer.values);
    case 'detected-labels':
      return total(answer.labels, ({ label, values }) => label.length + textsBytes(values));
    case 'patterns':
      return total(
        answer.patterns,
        ({ pattern, samples }) => objectBytes + pattern.length + samples.length * pointBytes,
      );
    case 'shards':
      return answer.shards.length * objectBytes;
    case 'index-stats':
    case 'scalar':
    case 'live':
    case 'tenant':
      return objectBytes;
    case 'several':
      return total(answer.answers, (part) => (part === undefined ? 0 : answerBytes(part)));
    case 'formatted':
      return objectBytes + answer.query.length;
    case 'encoded':
      return objectBytes + answer.body.byteLength;
  }
}

function entryBytes(entry: Entry): number {
  const groups = labelsBytes(entry.structuredMetadata) + labelsBytes(entry.parsed);
  return objectBytes + entry.line.length + groups;
}

function textsBytes(texts: readonly string[]): number {
  return total(texts, (text) => objectBytes + text.length);
}

function labelsBytes(labels: LabelSet): number {
  if (labels.size === 0) return 0;
  return total(labels.labels, ([name, value]) => objectBytes + name.length + value.length);
}

function* totalSteps<Item>(items: readonly Item[], bytesOf: (item: Item) => number): Steps<number> {
  let bytes = objectBytes;
  for (const [index, item] of items.entries()) {
    bytes += bytesOf(item);
    if ((index + 1) % stepItems === 0) yield;
  }
  return bytes;
}

function total<Item>(items: readonly Item[], bytesOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + bytesOf(item), objectBytes);
}
