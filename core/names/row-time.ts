/** A `_time` that is not RFC3339 UTC: the backend broke its contract. */
export class RowTimeError extends Error {
  override readonly name = 'RowTimeError';
}

const shape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:([0-5]\d)(?:\.(\d{1,9}))?Z$/;

let lastMinuteText = '';
let lastMinuteNs = 0n;

/**
 * Reads the `_time` of a row as nanoseconds since the epoch.
 * @throws RowTimeError
 */
export function parseRowTime(text: string): bigint {
  const match = shape.exec(text);
  if (match === null) throw new RowTimeError(`malformed _time: ${text.slice(0, 60)}`);
  const minuteText = text.slice(0, 16);
  // Neighbouring rows mostly share their minute, and reading a date costs more than all the rest.
  if (minuteText !== lastMinuteText) {
    const ms = Date.parse(`${minuteText}Z`);
    if (Number.isNaN(ms)) throw new RowTimeError(`malformed _time: ${text.slice(0, 60)}`);
    lastMinuteText = minuteText;
    lastMinuteNs = BigInt(ms) * 1_000_000n;
  }
  const [, seconds = '', fraction = ''] = match;
  return lastMinuteNs + BigInt(Number(seconds) * 1e9 + Number(fraction.padEnd(9, '0')));
}
