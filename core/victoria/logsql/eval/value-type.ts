import { parseIPv4 } from '../../../base/ip.js';
import { parsePlain } from '../numbers.js';

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * The column type for one value. VictoriaLogs chooses types per storage block; few distinct texts make a `dict`, so a text counts as one
 * here.
 */
export function valueType(value: string): string {
  if (value === '') return '';
  const number = parsePlain(value);
  if (number !== undefined && !value.includes('_')) {
    if (value.includes('.')) return 'float64';
    if (number < 0) return 'int64';
    if (number < 2 ** 8) return 'uint8';
    if (number < 2 ** 16) return 'uint16';
    return number < 2 ** 32 ? 'uint32' : 'uint64';
  }
  if (parseIPv4(value) !== undefined) return 'ipv4';
  return isoTime.test(value) ? 'iso8601' : 'dict';
}
