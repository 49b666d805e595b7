import { posix } from 'node:path';

/** The path without empty, `.` and `..` parts, to which Loki redirects; undefined for one that has none. */
export function cleanPath(path: string): string | undefined {
  const cleaned = posix.normalize(path);
  if (cleaned === path || !cleaned.startsWith('/')) return undefined;
  // Browsers take a backslash for a slash, and two of those at the beginning for another host.
  return cleaned.replaceAll('\\', '%5C');
}
