/**
 * Sizes in V8's heap, on 64 bits without pointer compression. Sizes of typed arrays are exact; the others are measured, and
 * test/core/base/memory compares them with a real heap.
 */
import type { LabelSet } from '../labels/label-set.js';

const textHead = 16;
/** From this length on, V8 represents a substring as a pointer into its parent. */
const slicedLength = 13;
const slicedBytes = 32;
const labelBytes = 72;
const labelSetBytes = 112;
/** A Map entry, including its share of unused slots. */
export const entryBytes = 48;
export const pointBytes = 80;
const rowBytes = 400;

/** The size of the label sets that a pipeline keeps for reuse (see LabelSetPool). */
export const keptLabelsBytes = 4 * 1024 * 1024;

/** The size of a text that is not a slice of another. */
export function textBytes(text: string): number {
  return textHead + ((text.length + 7) & ~7) * (hasWideCharacters(text) ? 2 : 1);
}

function hasWideCharacters(text: string): boolean {
  if (text.length > 64) return Buffer.byteLength(text) !== text.length;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0xff) return true;
  return false;
}

/** The size of a label set with its key. Its values are separate texts or slices of the key (see LabelSet.owned). */
export function labelsBytes(set: LabelSet): number {
  let bytes = labelSetBytes + textBytes(set.key);
  for (const [, value] of set.labels) {
    bytes += labelBytes;
    if (value !== '') bytes += value.length < slicedLength ? textHead + 16 : slicedBytes;
  }
  return bytes;
}

/** The approximate size of labels that are not shared, computed in constant time. */
export function ownLabelsBytes({ size }: LabelSet): number {
  return size * 100;
}

interface Arrays {
  readonly values: { readonly byteLength: number };
  readonly present: { readonly byteLength: number };
}

/** The size of one series over the columns of a grid. */
export function seriesRowBytes({ values, present }: Arrays): number {
  return values.byteLength + present.byteLength + rowBytes;
}

/** The same, before the arrays are allocated. */
export function seriesBytes(columns: number, bytesPerColumn = 9): number {
  return columns * bytesPerColumn + rowBytes;
}

/** The size of a log row with its labels, which are mostly shared with other rows. */
export function logRowBytes({ line }: { readonly line: string }): number {
  return 300 + textBytes(line);
}
