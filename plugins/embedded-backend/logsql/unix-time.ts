const nsPerSecond = 1_000_000_000n;

/** Parses integer or decimal Unix time, guessing seconds, milliseconds, microseconds or nanoseconds from its size. */
export function parseUnixTime(text: string): bigint | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  if (/^-?\d+$/.test(text)) return scaleTime(BigInt(text));
  const number = Number(text);
  if (!Number.isFinite(number)) return undefined;
  const unit = scaleOf(Math.trunc(Math.abs(number)));
  const plain = /^(-?)(\d+)\.(\d+)$/.exec(text);
  if (plain === null) return BigInt(Math.round(number * Number(unit)));
  const [, sign = '', whole = '', part = ''] = plain;
  const scaled = BigInt(whole) * unit + (BigInt(part) * unit) / 10n ** BigInt(part.length);
  return sign === '' ? scaled : -scaled;
}

function scaleTime(value: bigint): bigint {
  const size = Number(value < 0n ? -value : value);
  return value * scaleOf(size);
}

function scaleOf(size: number): bigint {
  if (size < 2 ** 32) return nsPerSecond;
  if (size < 2 ** 32 * 1e3) return 1_000_000n;
  if (size < 2 ** 32 * 1e6) return 1000n;
  return 1n;
}
