/** A `_time` that is not RFC3339 UTC: the backend broke its contract. */
export class RowTimeError extends Error {
  override readonly name = 'RowTimeError';
}

const shape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.(\d{1,9}))?Z$/;

let lastSecondText = '';
let lastSecondNs = 0n;

/**
 * Reads the `_time` of a row as nanoseconds since the epoch.
 * @throws RowTimeError
 */
export function parseRowTime(text: string): bigint {
  const match = shape.exec(text);
  if (match === null) throw new RowTimeError(`malformed _time: ${text.slice(0, 60)}`);
  const secondText = text.slice(0, 19);
  // Neighbouring rows mostly share their second.
  if (secondText !== lastSecondText) {
    const ms = Date.parse(`${secondText}Z`);
    if (Number.isNaN(ms)) throw new RowTimeError(`malformed _time: ${text.slice(0, 60)}`);
    lastSecondText = secondText;
    lastSecondNs = BigInt(ms) * 1_000_000n;
  }
  const fraction = match[1];
  return fraction === undefined ? lastSecondNs : lastSecondNs + BigInt(fraction.padEnd(9, '0'));
}
