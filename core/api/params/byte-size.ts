import { apiError } from '../../errors/table.js';
import { quoteGo } from '../../time/index.js';

const shape = /^(\d{1,15})\s*(?:([KMGTP]?)B?)$/i;
const powers = 'KMGTP';

/** Reads a size such as `600MB` in units of 1024; a text that is none is refused. */
export function readByteSize(text: string): number {
  const match = shape.exec(text.trim());
  if (match === null) throw apiError('badRequest', { text: `cannot parse ${quoteGo(text)} as a size` });
  const [, digits = '', unit = ''] = match;
  return Number(digits) * 1024 ** (unit === '' ? 0 : powers.indexOf(unit.toUpperCase()) + 1);
}
