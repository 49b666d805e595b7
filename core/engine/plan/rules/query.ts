import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { kindOfRule } from './rule.js';

/** `-pushdown`: with `off` the backend only selects streams. */
export type Pushdown = 'on' | 'off';

/** Defines a rule about a query as a whole. */
const settingRule = kindOfRule<Pushdown, never, [], 'none'>();

export const metricOff = settingRule({
  id: 'metricOff',
  construct: 'any query with -pushdown=off',
  verdict: 'none',
  reason: 'switched off: the backend selects streams, everything else is done here',
  example: {
    query: '{namespace="shop"} |= "timeout"',
    whyHidden: 'any query with -pushdown=off',
    pushdown: 'off',
  },
  match: (pushdown) => pushdown === 'off',
});

/** Defines a rule about all that the backend is asked for one log query. */
const filterRule = kindOfRule<LogsqlFilter, never, [], 'none'>();

/** Bytes of a filter's text. */
// The backend's limit is 16384 bytes; the rest is left to the query around the filter.
const maxFilterBytes = 15_000;

export const queryTooLong = filterRule({
  id: 'queryTooLong',
  construct: 'filters that make the backend query longer than 16 KiB',
  verdict: 'none',
  reason: 'the backend refuses longer queries',
  example: {
    query: `{namespace="shop"} |= "${'x'.repeat(maxFilterBytes)}"`,
    whyHidden: 'the query would be longer than 16 KiB',
  },
  match: isTooLong,
});

/** True when a filter has too long a text; each of its parts has at least three bytes with what is between them. */
function isTooLong(filter: LogsqlFilter): boolean {
  if (filter.kind === 'and' && filter.parts.length * 3 > maxFilterBytes) return true;
  return Buffer.byteLength(printFilter(filter)) > maxFilterBytes;
}
