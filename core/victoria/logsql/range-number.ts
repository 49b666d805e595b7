import { parseIPv4 } from '../../base/ip.js';
import { parseDate } from './literals.js';
import { parseNumber } from './numbers.js';

/** The number for a bound or a value of a range; also accepts complete RFC3339 times (ns) and IPv4 addresses. */
export function rangeNumber(text: string): number | undefined {
  const number = parseNumber(text);
  if (number !== undefined) return number;
  if (text.length >= 20 && text.includes('T')) {
    const time = parseDate(text);
    if (time !== undefined) return Number(time.ns);
  }
  return parseIPv4(text);
}
