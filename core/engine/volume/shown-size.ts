import { formatBytes, parseBytes } from '../../logql/values/bytes.js';

const endsInUnit = /(?:b|[kmgtpe]i?)$/i;

/** A size with a unit as Loki prints sizes, by thousands and without a space (`13KiB` is `13kB`); undefined for other texts. */
export function shownSize(value: string): string | undefined {
  if (!endsInUnit.test(value)) return undefined;
  const size = parseBytes(value);
  return size === undefined ? undefined : formatBytes(size);
}
