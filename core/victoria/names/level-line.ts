import { levelField } from './level-object.js';
import { levelPair } from './level-pairs.js';
import { levelOfWords, normalLevel } from './level-words.js';

// Every space of Unicode may stand in front of an object, and only those of ASCII behind it.
const startOfObject = /^[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*\{/;
/** A text that any spelling of a level name contains; in JSON it may be written with escapes. */
const mayHoldName = /l(?:evel|vl)|[sſ]everity|\\u/i;

/**
 * Finds the level of a line: in the fields of a JSON object, else in logfmt pairs; the first level word where they have none that is known;
 * undefined when there is none at all.
 */
export function levelFromLine(line: string): string | undefined {
  const value = valueInLine(line);
  return (value === undefined ? undefined : normalLevel(value)) ?? levelOfWords(line);
}

function valueInLine(line: string): string | undefined {
  // Most lines that are neither need not be searched for names.
  const isObjectLine = isObject(line);
  if ((!isObjectLine && !line.includes('=')) || !mayHoldName.test(line)) return undefined;
  return isObjectLine ? levelField(line, false).value : levelPair(line).value;
}

/** True when a line is taken for a JSON object. */
export function isObject(line: string): boolean {
  return endsObject(line) && isObjectStart(line);
}

function endsObject(line: string): boolean {
  let at = line.length - 1;
  while (at > 0 && isAsciiSpace(line.charCodeAt(at))) at -= 1;
  return line.charCodeAt(at) === 0x7d;
}

function isAsciiSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** True when a line that starts with this text may be a JSON object. */
export function isObjectStart(text: string): boolean {
  return startOfObject.test(text);
}
