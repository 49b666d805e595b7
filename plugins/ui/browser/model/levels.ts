/** The levels that the page tells apart, the gravest first; each has a colour of its own. */
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

/** The level that a text means, as Grafana reads it; everything else is unknown. */
export function levelOf(text: string | undefined): Level {
  return spellings.get((text ?? '').toLowerCase()) ?? 'unknown';
}
