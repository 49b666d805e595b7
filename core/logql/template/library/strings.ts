import { lowerText, toTitle, upperText, trimSpace } from './characters.js';
import { byteLength, sliceBytes, wellFormed } from '../../values/raw-bytes.js';
import { exceeded, formatLimits } from '../exec/limits.js';
import {
  GoError,
  ofCount,
  ofText,
  ofTexts,
  runtimeError,
  size,
  textArgument,
  type GoFunction,
} from './types.js';

function trunc(count: number, subject: string): string {
  const length = byteLength(subject);
  if (count < 0 && length + count > 0) return sliceBytes(subject, length + count, length);
  return count >= 0 && length > count ? sliceBytes(subject, 0, count) : subject;
}

function substr(start: number, end: number, subject: string): string {
  const length = byteLength(subject);
  if (start < 0) {
    if (end < 0) throw runtimeError(`slice bounds out of range [:${String(end)}]`);
    if (end > length)
      throw runtimeError(`slice bounds out of range [:${String(end)}] with length ${String(length)}`);
    return sliceBytes(subject, 0, end);
  }
  const last = end < 0 || end > length ? length : end;
  if (start > last) throw runtimeError(`slice bounds out of range [${String(start)}:${String(last)}]`);
  return sliceBytes(subject, start, last);
}

/** Repeats a text, after checking the resulting length. */
export function repeat(subject: string, count: number): string {
  if (count < 0) throw new GoError('strings: negative Repeat count');
  if (subject.length * count > formatLimits.functionOutput) exceeded('function output');
  return subject.repeat(count);
}

function indent(spaces: number, subject: string): string {
  const padding = repeat(' ', spaces);
  const lines = subject.split('\n');
  if (lines.length * padding.length > formatLimits.functionOutput) exceeded('function output');
  return padding + lines.join(`\n${padding}`);
}

/** Pads or cuts to a width in characters; a negative width leaves the text unchanged. */
function align(width: number, subject: string, isLeft: boolean): string {
  if (width < 0) return subject;
  const characters = Array.from(wellFormed(subject));
  const missing = width - characters.length;
  if (missing === 0) return subject;
  if (missing > 0) return isLeft ? subject + repeat(' ', missing) : repeat(' ', missing) + subject;
  return (isLeft ? characters.slice(0, width) : characters.slice(-missing)).join('');
}

type Side = 'left' | 'right' | 'both';

/** Removes the characters in the set. */
function trimSet(subject: string, set: string, side: Side): string {
  const cut = new Set(set);
  let from = 0;
  let to = subject.length;
  if (side !== 'right') {
    for (let char = characterAt(subject, from); cut.has(char); char = characterAt(subject, from))
      from += char.length;
  }
  if (side !== 'left') {
    for (let char = characterBefore(subject, to); to > from && cut.has(char);) {
      to -= char.length;
      char = characterBefore(subject, to);
    }
  }
  return subject.slice(from, to);
}

function characterAt(subject: string, at: number): string {
  const code = subject.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function characterBefore(subject: string, at: number): string {
  const pair = at > 1 ? characterAt(subject, at - 2) : '';
  return pair.length === 2 ? pair : subject.charAt(at - 1);
}

function trimPrefix(subject: string, prefix: string): string {
  return subject.startsWith(prefix) ? subject.slice(prefix.length) : subject;
}

function trimSuffix(subject: string, suffix: string): string {
  return subject.endsWith(suffix) ? subject.slice(0, subject.length - suffix.length) : subject;
}

/** Text functions; the newer ones take the text last, so that it can come through a pipe. */
export const stringFunctions: Readonly<Record<string, GoFunction>> = {
  lower: ofText(lowerText, 4),
  upper: ofText(upperText, 4),
  title: ofText(toTitle, 16),
  ToLower: ofText(lowerText, 4),
  ToUpper: ofText(upperText, 4),
  trim: ofText(trimSpace),
  TrimSpace: ofText(trimSpace),
  trunc: ofCount(trunc, 3),
  substr: {
    parameters: ['int', 'int', 'string'],
    weight: 3,
    call: ([start, end, subject]) => substr(size(start), size(end), textArgument(subject)),
  },
  contains: ofTexts((needle, subject) => subject.includes(needle)),
  hasPrefix: ofTexts((needle, subject) => subject.startsWith(needle)),
  hasSuffix: ofTexts((needle, subject) => subject.endsWith(needle)),
  trimAll: ofTexts((set, subject) => trimSet(subject, set, 'both'), 6),
  trimPrefix: ofTexts((prefix, subject) => trimPrefix(subject, prefix)),
  trimSuffix: ofTexts((suffix, subject) => trimSuffix(subject, suffix)),
  Trim: ofTexts((subject, set) => trimSet(subject, set, 'both'), 6),
  TrimLeft: ofTexts((subject, set) => trimSet(subject, set, 'left'), 6),
  TrimRight: ofTexts((subject, set) => trimSet(subject, set, 'right'), 6),
  TrimPrefix: ofTexts(trimPrefix),
  TrimSuffix: ofTexts(trimSuffix),
  indent: ofCount(indent),
  nindent: ofCount((spaces, subject) => `\n${indent(spaces, subject)}`),
  repeat: ofCount((count, subject) => repeat(subject, count)),
  alignLeft: ofCount((width, subject) => align(width, subject, true), 6),
  alignRight: ofCount((width, subject) => align(width, subject, false), 6),
};
