/** A sample's value as Loki writes it: the shortest digits that parse to the same number, never an exponent. */
export function formatSampleValue(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = '', first = '', fraction = '', exponentText = '0'] = match;
  const digits = first + fraction;
  const exponent = Number(exponentText);
  return exponent < 0
    ? `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
    : `${sign}${digits.padEnd(exponent + 1, '0')}`;
}

/** Seconds, with milliseconds if there are any. */
export function formatSeconds(timestampMs: number): string {
  return timestampMs % 1000 === 0 ? String(timestampMs / 1000) : (timestampMs / 1000).toFixed(3);
}
