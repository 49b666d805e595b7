const second = 1_000_000_000n;
const unitsNs: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['ms', 1_000_000n],
  ['s', second],
  ['m', 60n * second],
  ['h', 3_600n * second],
  ['d', 86_400n * second],
  ['w', 7n * 86_400n * second],
  ['y', 365n * 86_400n * second],
]);

/**
 * Reads a duration of a tenant limit in nanoseconds: the reference's units including d, w and y, in any order ("30d1h", "1.5h").
 * Undefined when it is none.
 */
export function parseLimitDuration(text: string): bigint | undefined {
  if (text === '0') return 0n;
  if (!/^(?:\d{1,15}(?:\.\d{1,9})?(?:ns|us|µs|ms|[smhdwy]))+$/.test(text)) return undefined;
  let total = 0n;
  for (const [, whole = '0', fraction = '', unit = 's'] of text.matchAll(/(\d+)(?:\.(\d+))?([a-zµ]+)/g)) {
    const unitNs = unitsNs.get(unit) ?? 0n;
    total += BigInt(whole) * unitNs;
    if (fraction !== '') total += (BigInt(fraction) * unitNs) / 10n ** BigInt(fraction.length);
  }
  return total;
}

/** Writes a duration as the reference publishes it: "30d1h", "2m", "0s"; weeks only when nothing else is left, as Prometheus does. */
export function formatLimitDuration(ns: bigint): string {
  if (ns === 0n) return '0s';
  let rest = ns / 1_000_000n;
  let text = '';
  const take = (unit: string, ms: bigint, onlyExact: boolean): void => {
    if (rest < ms || (onlyExact && rest % ms !== 0n)) return;
    text += `${rest / ms}${unit}`;
    rest %= ms;
  };
  take('y', 365n * 86_400_000n, true);
  take('w', 7n * 86_400_000n, true);
  take('d', 86_400_000n, false);
  take('h', 3_600_000n, false);
  take('m', 60_000n, false);
  take('s', 1_000n, false);
  take('ms', 1n, false);
  return text;
}
