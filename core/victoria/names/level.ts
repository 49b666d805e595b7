import { levelField, levelNames, levelOfWords, levelPair, normalLevel } from './level-words.js';

export const detectedLevelName = 'detected_level';
export const unknownLevel = 'unknown';

/** The level in a set of labels or metadata entries; unknown texts are returned unchanged. */
export function levelOfNames(get: (name: string) => string | undefined): string | undefined {
  for (const name of levelNames) {
    const value = get(name);
    if (value !== undefined && value !== '') return normalLevel(value) ?? value;
  }
  return undefined;
}

const wholeNumber = /^([+-]?)0*([0-9]{1,19})$/;
const largest = 2n ** 63n - 1n;

/** The level of an OTLP severity number; texts that Go does not parse as a 64-bit number mean info. */
export function levelOfSeverityNumber(text: string): string {
  const [, sign, digits = ''] = wholeNumber.exec(text) ?? [];
  if (sign === undefined) return 'info';
  const number = sign === '-' ? -BigInt(digits) : BigInt(digits);
  if (number > largest || number < -largest - 1n) return 'info';
  if (number === 0n || number > 24n) return unknownLevel;
  if (number <= 4n) return 'trace';
  if (number <= 8n) return 'debug';
  if (number <= 12n) return 'info';
  if (number <= 16n) return 'warn';
  return number <= 20n ? 'error' : 'fatal';
}

/** Patterns for the severity numbers of the levels, none of which is info or unknown. */
export function severityNumbers(levels: readonly string[]): readonly string[] {
  const numbers = Array.from({ length: 24 }, (_, index) => String(index + 1));
  const positive = numbers.filter((number) => levels.includes(levelOfSeverityNumber(number)));
  const negative = levels.includes(levelOfSeverityNumber('-1')) ? ['-.*'] : [];
  return [...negative, ...positive.map((number) => `[+]?0*${number}`)];
}

/** The level given by a stream's labels or an entry's metadata (docs/protocol/answers.md#log-entries); undefined if the line decides. */
export function storedLevel(
  ofLabels: string | undefined,
  metadata: ReadonlyMap<string, string>,
): string | undefined {
  if (ofLabels !== undefined || metadata.size === 0) return ofLabels;
  const named = levelOfNames((name) => metadata.get(name));
  if (named !== undefined) return named;
  const number = metadata.get('severity_number');
  return number === undefined || number === '' ? undefined : levelOfSeverityNumber(number);
}

/** The level of an entry that only its line can determine. */
export function levelOfLine(line: string, scansBodies: boolean): string {
  return (scansBodies ? levelFromLine(line) : undefined) ?? unknownLevel;
}

// Any Unicode space may precede an object, but only ASCII spaces may follow it.
const startOfObject = /^[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*\{/;
/** Matches if a text may contain a level name, which JSON may spell with escapes. */
const mayHoldName = /l(?:evel|vl)|[sſ]everity|\\u/i;

/**
 * Finds the level of a line in the fields of a JSON object, or in logfmt pairs, or as the first level word if these have no known level;
 * undefined if there is none.
 */
export function levelFromLine(line: string): string | undefined {
  const value = valueInLine(line);
  return (value === undefined ? undefined : normalLevel(value)) ?? levelOfWords(line);
}

function valueInLine(line: string): string | undefined {
  // Most lines that are neither JSON nor logfmt need not be searched for names.
  const isObjectLine = isObject(line);
  if ((!isObjectLine && !line.includes('=')) || !mayHoldName.test(line)) return undefined;
  return isObjectLine ? levelField(line) : levelPair(line);
}

/** True if a line is taken for a JSON object. */
function isObject(line: string): boolean {
  return endsObject(line) && startOfObject.test(line);
}

function endsObject(line: string): boolean {
  let at = line.length - 1;
  while (at > 0 && isAsciiSpace(line.charCodeAt(at))) at -= 1;
  return line.charCodeAt(at) === 0x7d;
}

function isAsciiSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
