import { compareGoStrings } from '../../../logql/values/raw-bytes.js';
import { parseNumber } from '../numbers.js';
import { parseDate } from '../literals.js';

const integer = /^-?(?:0|[1-9][0-9]*)$/;

/** A value with its precomputed sort key. */
export interface RankedValue {
  readonly text: string;
  readonly number: number | undefined;
  readonly time: bigint | undefined;
}

/** Computes the sort key of a value. */
export function rank(text: string): RankedValue {
  // A lone minus is zero in filters and sums, but a text when sorting.
  const number = text === '-' ? undefined : parseNumber(text);
  const time =
    number === undefined && text.length >= 20 && text.charCodeAt(10) === 84 ? parseDate(text)?.ns : undefined;
  return { text, number, time };
}

/** Orders values: numbers, durations and sizes by value, times by time, everything else as text with its digits compared as numbers. */
export function compareRanked(a: RankedValue, b: RankedValue): number {
  if (a.text === b.text) return 0;
  if (a.number !== undefined && b.number !== undefined) {
    if (a.number !== b.number) return a.number < b.number ? -1 : 1;
    // Beyond 2^53 a double cannot distinguish all integers.
    if (Number.isSafeInteger(a.number) || !integer.test(a.text) || !integer.test(b.text)) return 0;
    const difference = BigInt(a.text) - BigInt(b.text);
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  if (a.time !== undefined && b.time !== undefined) return a.time < b.time ? -1 : a.time > b.time ? 1 : 0;
  return compareNatural(a.text, b.text);
}

/** Orders two values; see compareRanked. */
export function compareValues(a: string, b: string): number {
  return a === b ? 0 : compareRanked(rank(a), rank(b));
}

/** Orders texts with sequences of digits compared as numbers. */
export function compareNatural(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (isDigit(a.charCodeAt(i)) && isDigit(b.charCodeAt(j))) {
      const endA = digitsEnd(a, i);
      const endB = digitsEnd(b, j);
      const order = compareDigits(a.slice(i, endA), b.slice(j, endB));
      if (order !== 0) return order;
      i = endA;
      j = endB;
      continue;
    }
    if (a.charCodeAt(i) !== b.charCodeAt(j)) return compareGoStrings(a.slice(i), b.slice(j));
    i++;
    j++;
  }
  if (i === a.length && j === b.length) return compareGoStrings(a, b);
  return i === a.length ? -1 : 1;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function digitsEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

function compareDigits(a: string, b: string): number {
  const x = a.replace(/^0+/, '');
  const y = b.replace(/^0+/, '');
  if (x.length !== y.length) return x.length - y.length;
  return x < y ? -1 : x > y ? 1 : 0;
}
