const shape = /^(\d{1,15})\s*([KMGTP]?)B?$/i;
const powers = 'KMGTP';

/** Reads a size such as `600MB`, in units of 1024; undefined for a text that is none. */
export function readByteSize(text: string): number | undefined {
  const match = shape.exec(text.trim());
  if (match === null) return undefined;
  const [, digits = '', unit = ''] = match;
  return Number(digits) * 1024 ** (unit === '' ? 0 : powers.indexOf(unit.toUpperCase()) + 1);
}
