const shape = /^(\d{1,15})\s*([KMGTP]?)B?$/i;
const powers = 'KMGTP';

/** Parses a size such as `600MB`, in units of 1024; undefined when it is malformed. */
export function readByteSize(text: string): number | undefined {
  const match = shape.exec(text.trim());
  if (match === null) return undefined;
  const [, digits = '', unit = ''] = match;
  return Number(digits) * 1024 ** (unit === '' ? 0 : powers.indexOf(unit.toUpperCase()) + 1);
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** Prints a size as Loki does in its errors: `512 B`, `1.5 MiB`, `12 GiB`. */
export function printByteSize(bytes: number): string {
  if (bytes < 10) return `${bytes} B`;
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const value = Math.floor((bytes / 1024 ** power) * 10 + 0.5) / 10;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[power] ?? ''}`;
}
