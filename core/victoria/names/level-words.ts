/** Names of labels and metadata entries that hold a level, in Loki's order (limit `log_level_fields`). */
export const levelNames: readonly string[] = [
  'level',
  'LEVEL',
  'Level',
  'log.level',
  'severity',
  'SEVERITY',
  'Severity',
  'SeverityText',
  'lvl',
  'LVL',
  'Lvl',
  'severity_text',
  'Severity_Text',
  'SEVERITY_TEXT',
];

const known: ReadonlyMap<string, string> = new Map([
  ['trace', 'trace'],
  ['trc', 'trace'],
  ['debug', 'debug'],
  ['dbg', 'debug'],
  ['info', 'info'],
  ['inf', 'info'],
  ['information', 'info'],
  ['warn', 'warn'],
  ['wrn', 'warn'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['err', 'error'],
  ['critical', 'critical'],
  ['fatal', 'fatal'],
]);

/** The words for a level, in lower case; empty for an unknown level. */
export function wordsOfLevel(level: string): readonly string[] {
  return [...known].filter(([, name]) => name === level).map(([word]) => word);
}

/** Loki's name for a level word in any case; undefined for any other text. */
export function normalLevel(text: string): string | undefined {
  return text.length > 11 ? undefined : known.get(text.toLowerCase());
}
