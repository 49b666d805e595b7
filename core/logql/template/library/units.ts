import { parseBytes } from '../../values/bytes.js';
import { goDurationFault, parseGoDuration, parseGoFloat } from '../../../base/time/index.js';
import { toLower } from '../strings/case.js';
import { trimSpace } from '../strings/characters.js';
import { GoError, ofText, type GoFunction } from './types.js';

/** A size as a number of bytes. */
function bytes(subject: string): number {
  const size = parseBytes(subject);
  if (size !== undefined) return size;
  const digits = /^[\p{Nd}.,]*/u.exec(subject)?.[0] ?? '';
  const number = parseGoFloat(digits.replaceAll(',', ''));
  if (number.kind === 'bad') throw new GoError(number.error);
  const unit = toLower(trimSpace(subject.slice(digits.length)));
  const isKnown = parseBytes(`1 ${unit}`) !== undefined;
  throw new GoError(isKnown ? `too large: ${subject}` : `unhandled size name: ${unit}`);
}

/** A duration in seconds. */
function seconds(subject: string): number {
  const nanoseconds = parseGoDuration(subject);
  if (nanoseconds === undefined) throw new GoError(goDurationFault(subject));
  return durationSeconds(nanoseconds);
}

/** Go's Duration.Seconds. */
export function durationSeconds(nanoseconds: bigint): number {
  const second = 1_000_000_000n;
  return Number(nanoseconds / second) + Number(nanoseconds % second) / 1e9;
}

export const unitFunctions: readonly (readonly [string, GoFunction])[] = [
  ['bytes', ofText(bytes)],
  ['duration', ofText(seconds)],
  ['duration_seconds', ofText(seconds)],
];
