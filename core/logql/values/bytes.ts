const decimalNames = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
const powers = new Map<string, number>([
  ['', 1],
  ['b', 1],
]);
for (const [index, letter] of ['k', 'm', 'g', 't', 'p', 'e'].entries()) {
  for (const name of [letter, `${letter}b`]) powers.set(name, 1000 ** (index + 1));
  for (const name of [`${letter}i`, `${letter}ib`]) powers.set(name, 1024 ** (index + 1));
}

/** Parses a size such as `1.5 KiB` or `2,000kb` (any letter case, rounded down to bytes); undefined when malformed. */
export function parseBytes(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([\p{Nd}.,]*)(.*)$/su.exec(text) ?? [];
  const plain = digits.replaceAll(',', '');
  const power = powers.get(unit.trim().toLowerCase());
  if (power === undefined || !/^(?:[0-9]+\.?[0-9]*|\.[0-9]+)$/.test(plain)) return undefined;
  const size = Number(plain) * power;
  return size >= 2 ** 64 ? undefined : Math.trunc(size);
}

/** Prints a size in powers of 1000 with two significant digits below 10 (`1.6MB`, `10kB`, `7B`). */
export function formatBytes(size: number): string {
  if (size < 10) return `${size}B`;
  const exponent = Math.floor(Math.log(size) / Math.log(1000));
  const scaled = Math.floor((size / 1000 ** exponent) * 10 + 0.5) / 10;
  return `${scaled < 10 ? scaled.toFixed(1) : String(roundHalfEven(scaled))}${decimalNames[exponent] ?? ''}`;
}

/** Go's %.0f. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  return value - floor === 0.5 ? floor + (floor % 2) : Math.round(value);
}
