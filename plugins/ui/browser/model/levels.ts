/** The levels that the page distinguishes, most severe first; each has its own colour. */
export const levels = ['critical', 'error', 'warn', 'info', 'debug', 'trace', 'unknown'] as const;
export type Level = (typeof levels)[number];

const spellings: ReadonlyMap<string, Level> = new Map([
  ['emerg', 'critical'],
  ['fatal', 'critical'],
  ['alert', 'critical'],
  ['crit', 'critical'],
  ['critical', 'critical'],
  ['err', 'error'],
  ['eror', 'error'],
  ['error', 'error'],
  ['warn', 'warn'],
  ['warning', 'warn'],
  ['info', 'info'],
  ['information', 'info'],
  ['informational', 'info'],
  ['notice', 'info'],
  ['dbug', 'debug'],
  ['debug', 'debug'],
  ['trace', 'trace'],
]);

/** The level for a text, by Grafana's rules; anything else is unknown. */
export function levelOf(text: string | undefined): Level {
  return spellings.get((text ?? '').toLowerCase()) ?? 'unknown';
}

/** The values of `detected_level` that are one level on the page. */
export function levelValues(level: Level): readonly string[] {
  return level === 'critical' ? ['critical', 'fatal'] : [level];
}
