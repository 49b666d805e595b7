import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { and, regexp } from '../../../../victoria/logsql/build.js';
import { wholeLinePattern } from '../../backend-pattern.js';
import { containsTextsOf, lineField } from './line-rule.js';

/** A pattern of LogQL, and as the backend is asked for it. */
export interface BackendRegexp {
  readonly pattern: string;
  readonly whole: string;
}

/** A pattern as the backend understands it like Loki does; undefined where it would take some of its dots for the other kind. */
export function backendRegexp(pattern: string): BackendRegexp | undefined {
  const whole = wholeLinePattern(withoutDotAll(pattern));
  return whole === undefined ? undefined : { pattern, whole };
}

/** Lines with a match. The backend takes its time for most patterns, and next to none for the texts that all matches hold. */
export function matches({ pattern, whole }: BackendRegexp): LogsqlFilter {
  return and(...containsTextsOf(pattern), regexp(lineField, whole));
}

/** Says that `.` does not match line feeds, unless the pattern says it does; flags at its start are joined. */
function withoutDotAll(pattern: string): string {
  const flags = /^\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?\)/.exec(pattern);
  if (flags === null) return `(?-s)${pattern}`;
  const [whole, on = '', off = ''] = flags;
  if (on.includes('s') || off.includes('s')) return pattern;
  return `(?${on}-${off}s)${pattern.slice(whole.length)}`;
}
