import { BlockList, isIPv4, isIPv6 } from 'node:net';

type Family = 'ipv4' | 'ipv6';

/** Whether `ip("...")` accepts the text: an address, a CIDR block, or an ascending range `a-b` of one address family. */
export function isIpPattern(text: string): boolean {
  if (familyOf(text) !== undefined) return true;
  const block = /^([^/%]*)\/(0|[1-9][0-9]{0,2})$/.exec(text);
  if (block !== null) {
    const family = familyOf(block[1] ?? '');
    return family !== undefined && Number(block[2]) <= (family === 'ipv4' ? 32 : 128);
  }
  const [from = '', to = '', ...more] = text.split('-');
  const family = familyOf(from);
  return family !== undefined && more.length === 0 && familyOf(to) === family && isRising(from, to, family);
}

function familyOf(text: string): Family | undefined {
  if (isIPv4(text)) return 'ipv4';
  return isIPv6(text) ? 'ipv6' : undefined;
}

function isRising(from: string, to: string, family: Family): boolean {
  try {
    new BlockList().addRange(from, to, family);
    return true;
  } catch {
    return false;
  }
}
