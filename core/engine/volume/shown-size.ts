import { formatBytes, parseBytes } from '../../logql/values/bytes.js';

const endsInUnit = /(?:b|[kmgtpe]i?)$/i;

/**
 * A size with a unit in the form in which Loki prints sizes: powers of 1000, without a space (`13KiB` becomes `13kB`); undefined for other
 * texts.
 */
export function shownSize(value: string): string | undefined {
  if (!endsInUnit.test(value)) return undefined;
  const size = parseBytes(value);
  return size === undefined ? undefined : formatBytes(size);
}
