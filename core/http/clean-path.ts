import { posix } from 'node:path';

/** The path without empty, `.` and `..` parts, to which Loki redirects; undefined for one that has none. */
export function cleanPath(path: string): string | undefined {
  const cleaned = posix.normalize(path);
  return cleaned === path || !cleaned.startsWith('/') ? undefined : cleaned;
}
