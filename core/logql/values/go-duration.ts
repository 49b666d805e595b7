const units = new Map<string, bigint>([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const max = (1n << 63n) - 1n;
const piece = /^([0-9]*)(?:\.([0-9]*))?([^0-9.]*)/;

/** Parses a duration as Go's time.ParseDuration does (`1h2m`, `1.5s`, `-3ms`), to nanoseconds; undefined when malformed. */
export function parseGoDuration(text: string): bigint | undefined {
  const negative = text.startsWith('-');
  let rest = negative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return 0n;
  if (rest === '') return undefined;
  let total = 0n;
  while (rest !== '') {
    const [all, whole = '', fraction = '', name = ''] = piece.exec(rest) ?? [''];
    const unit = units.get(name);
    if (unit === undefined || whole + fraction === '') return undefined;
    total += BigInt(whole || '0') * unit;
    // Go scales the fraction as a float and truncates to nanoseconds; more than 18 digits cannot matter.
    const digits = fraction.slice(0, 18);
    if (digits !== '') total += (BigInt(digits) * unit) / 10n ** BigInt(digits.length);
    if (total > max + (negative ? 1n : 0n)) return undefined;
    rest = rest.slice(all.length);
  }
  return negative ? -total : total;
}

/** Go's time.Duration.String: `1h30m0s`, `1.5s`, `10µs`, `0s`. */
export function formatGoDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${size.toString()}ns`;
  if (size < 1_000_000n) return `${sign}${withFraction(size, 3)}\u00b5s`;
  if (size < 1_000_000_000n) return `${sign}${withFraction(size, 6)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${withFraction(size % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  const minutesText = `${(minutes % 60n).toString()}m`;
  return sign + (hours === 0n ? '' : `${hours.toString()}h`) + minutesText + seconds;
}

function withFraction(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return digits.slice(0, -places) + (fraction === '' ? '' : `.${fraction}`);
}
