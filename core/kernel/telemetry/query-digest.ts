import { createHash } from 'node:crypto';

/** A query as logs show it: a digest and its length, because queries contain names of people and hosts (`-debug-log-raw-queries`). */
export function digestQuery(query: string): string {
  const digest = createHash('sha256').update(query).digest('hex').slice(0, 8);
  return `sha256:${digest}+len=${query.length}`;
}
