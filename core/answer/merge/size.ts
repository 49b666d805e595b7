import type { LabelSet } from '../../labels/label-set.js';
import type { Answer, Entry } from '../types.js';

/** What an object, its slots and its part of an array cost beside their text. */
const objectBytes = 64;
const pointBytes = 40;

/**
 * About how many bytes an answer takes, in memory and, near enough for a safety bound, on the wire. Text counts one byte per UTF-16
 * unit, which is what V8 takes for the Latin-1 text that logs mostly are. Linear in entries and labels, without encoding anything.
 */
export function answerBytes(answer: Answer): number {
  switch (answer.kind) {
    case 'streams':
      return total(
        answer.streams,
        (stream) => labelsBytes(stream.labels) + total(stream.entries, entryBytes),
      );
    case 'names':
      return total(answer.values, (value) => objectBytes + value.length);
    case 'series':
      return total(answer.series, labelsBytes);
    case 'matrix':
    case 'volume':
      return total(answer.series, (series) => labelsBytes(series.labels) + series.points.length * pointBytes);
    case 'vector':
      return total(answer.samples, (sample) => labelsBytes(sample.labels) + pointBytes);
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

function total<Item>(items: readonly Item[], bytesOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + bytesOf(item), objectBytes);
}
