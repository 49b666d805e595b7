import { levelFromLine } from './level-line.js';
import { levelNames, normalLevel } from './level-words.js';

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

/** The level for an OTLP severity number; what Go does not read as a number of 64 bits is info. */
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

/** The level that a stream's labels or an entry's metadata tell (docs/protocol/answers.md#log-entries); undefined when the line decides. */
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

/** The level of an entry of which nothing else tells it. */
export function levelOfLine(line: string, scansBodies: boolean): string {
  return (scansBodies ? levelFromLine(line) : undefined) ?? unknownLevel;
}
