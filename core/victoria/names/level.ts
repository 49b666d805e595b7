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

/** The level for an OTLP severity number; undefined when the text is not a number. */
export function levelOfSeverityNumber(text: string): string | undefined {
  if (!/^-?[0-9]{1,9}$/.test(text)) return undefined;
  const number = Number(text);
  if (number < 1 || number > 24) return unknownLevel;
  if (number <= 4) return 'trace';
  if (number <= 8) return 'debug';
  if (number <= 12) return 'info';
  if (number <= 16) return 'warn';
  return number <= 20 ? 'error' : 'fatal';
}

/** Where `detected_level` can come from, other than a stored `detected_level`, which takes precedence. */
export interface LevelSources {
  readonly ofLabels: string | undefined;
  readonly metadata: ReadonlyMap<string, string>;
  readonly line: string;
}

/** Loki's `detected_level`: labels, metadata, severity number, then the line (docs/protocol/answers.md#log-entries). */
export function detectLevel(sources: LevelSources, scansBodies: boolean): string {
  const { ofLabels, metadata, line } = sources;
  if (ofLabels !== undefined) return ofLabels;
  if (metadata.size > 0) {
    const named = levelOfNames((name) => metadata.get(name));
    if (named !== undefined) return named;
    const number = metadata.get('severity_number');
    const numbered = number === undefined ? undefined : levelOfSeverityNumber(number);
    if (numbered !== undefined) return numbered;
  }
  return (scansBodies ? levelFromLine(line) : undefined) ?? unknownLevel;
}
