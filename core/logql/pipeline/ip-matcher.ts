import { parseIPv4, parseIPv6 } from '../../base/ip.js';

/** Whether a text is an address that an `ip("...")` value covers. */
export type IpMatcher = (text: string) => boolean;

interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** Six groups of IPv6 and a dotted address. */
const longestAddress = 45;

// Only the numbers of a dotted address must not start with a zero.
const leadingZero = /(?:^|[.:])0\d{1,2}\.|\.0\d{1,2}(?:\.|$)/;

/**
 * Parses the value of `ip("...")`: an address, a CIDR block or a range `a-b`. Anything else was refused by the parser and matches nothing.
 */
export function parseIpMatcher(text: string): IpMatcher {
  const [low, high] = boundsOf(text);
  if (low === undefined || high === undefined || low.bits !== high.bits) return () => false;
  return (candidate) => {
    const address = parseIpAddress(candidate);
    return (
      address !== undefined &&
      address.bits === low.bits &&
      address.value >= low.value &&
      address.value <= high.value
    );
  };
}

/** Parses a plain address; undefined for anything else, including numbers with leading zeros. */
export function parseIpAddress(text: string): Address | undefined {
  if (text.length > longestAddress || leadingZero.test(text)) return undefined;
  const v4 = parseIPv4(text);
  if (v4 !== undefined) return { bits: 32, value: BigInt(v4) };
  const v6 = parseIPv6(text);
  return v6 === undefined ? undefined : { bits: 128, value: v6 };
}

function boundsOf(text: string): readonly [Address | undefined, Address | undefined] {
  const dash = text.indexOf('-');
  if (dash >= 0)
    return [parseIpAddress(text.slice(0, dash).trim()), parseIpAddress(text.slice(dash + 1).trim())];
  const slash = text.indexOf('/');
  const address = parseIpAddress(slash < 0 ? text : text.slice(0, slash));
  if (slash < 0 || address === undefined) return [address, address];
  const prefix = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > address.bits) return [undefined, undefined];
  const mask = (1n << BigInt(address.bits - Number(prefix))) - 1n;
  return [
    { bits: address.bits, value: address.value & ~mask },
    { bits: address.bits, value: address.value | mask },
  ];
}
