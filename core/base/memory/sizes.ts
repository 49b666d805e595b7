/**
 * What things take in V8's heap, on 64 bits without compressed pointers. Arrays of numbers are exact; the others are what a heap
 * shows, and test/core/base/memory compares them with it.
 */
import type { LabelSet } from '../labels/label-set.js';

const textHead = 16;
/** From here on a part of a text is a pointer into it. */
const slicedLength = 13;
const slicedBytes = 32;
const labelBytes = 72;
const labelSetBytes = 112;
/** A Map's entry with its share of free ones. */
export const entryBytes = 48;
export const pointBytes = 80;
const rowBytes = 400;

/** Pipelines keep the label sets that they made last, of this size together (see LabelSetPool). */
export const keptLabelsBytes = 4 * 1024 * 1024;

/** A text of its own. */
export function textBytes(text: string): number {
  return textHead + ((text.length + 7) & ~7) * (hasWideSigns(text) ? 2 : 1);
}

function hasWideSigns(text: string): boolean {
  if (text.length > 64) return Buffer.byteLength(text) !== text.length;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0xff) return true;
  return false;
}

/** A label set whose values are texts of their own, or parts of its key (see LabelSet.owned), with its key. */
export function labelsBytes(set: LabelSet): number {
  let bytes = labelSetBytes + textBytes(set.key);
  for (const [, value] of set.labels) {
    bytes += labelBytes;
    if (value !== '') bytes += value.length < slicedLength ? textHead + 16 : slicedBytes;
  }
  return bytes;
}

interface Arrays {
  readonly values: { readonly byteLength: number };
  readonly present: { readonly byteLength: number };
}

/** The arrays of a series over the columns of a grid, and what holds them. */
export function seriesRowBytes({ values, present }: Arrays): number {
  return values.byteLength + present.byteLength + rowBytes;
}

/** The same, before they are made. */
export function seriesBytes(columns: number, bytesPerColumn = 9): number {
  return columns * bytesPerColumn + rowBytes;
}

/** A row of logs with its labels, which it mostly shares with others. */
export function logRowBytes({ line }: { readonly line: string }): number {
  return 300 + textBytes(line);
}
