/** The value of a dotted IPv4 address; undefined for anything else. */
export function parseIPv4(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  let value = 0;
  for (let i = 1; i <= 4; i++) {
    const part = Number(match[i]);
    if (part > 255) return undefined;
    value = value * 256 + part;
  }
  return value;
}

/** The dotted form of an IPv4 address. */
export function formatIPv4(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

const mappedIPv4 = 0xffff_0000_0000n;

/** The value of an IPv6 address, or of an IPv4 address mapped into IPv6; undefined for anything else. */
export function parseIPv6(text: string): bigint | undefined {
  const v4 = parseIPv4(text);
  if (v4 !== undefined) return mappedIPv4 + BigInt(v4);
  const halves = text.split('::');
  if (halves.length > 2 || !/^[0-9A-Fa-f:.]+$/.test(text)) return undefined;
  const head = groupsOf(halves[0] ?? '', halves.length === 1);
  const tail = groupsOf(halves[1] ?? '', true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail].reduce(
    (sum, part) => sum * 65536n + BigInt(part),
    0n,
  );
}

function groupsOf(text: string, mayEndDotted: boolean): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const dotted = mayEndDotted && index === parts.length - 1 ? parseIPv4(part) : undefined;
    if (dotted !== undefined) groups.push(Math.floor(dotted / 65536), dotted % 65536);
    else if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

/** The full form of an IPv6 address, eight groups. */
export function formatIPv6(value: bigint): string {
  return Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(
    ':',
  );
}

/** First and last address of a network `a/bits`, a single address or an explicit range. */
export function cidrRange(
  family: 'ipv4' | 'ipv6',
  text: string,
  to?: string,
): { readonly from: string; readonly to: string } | undefined {
  const parse = family === 'ipv4' ? widenIPv4 : parseIPv6;
  const format = family === 'ipv4' ? (value: bigint) => formatIPv4(Number(value)) : formatIPv6;
  if (to !== undefined) {
    const low = parse(text);
    const high = parse(to);
    return low === undefined || high === undefined ? undefined : { from: format(low), to: format(high) };
  }
  const [address = '', bits, ...rest] = text.split('/');
  const low = parse(address);
  if (low === undefined || rest.length > 0) return undefined;
  if (bits === undefined) return { from: format(low), to: format(low) };
  const width = family === 'ipv4' ? 32 : 128;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > width) return undefined;
  const mask = (1n << BigInt(width - Number(bits))) - 1n;
  return { from: format(low & ~mask), to: format(low | mask) };
}

function widenIPv4(text: string): bigint | undefined {
  const value = parseIPv4(text);
  return value === undefined ? undefined : BigInt(value);
}
