import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { kindOfRule } from './rule.js';

/** The option `-pushdown`; with `off`, the backend only selects streams. */
export type Pushdown = 'on' | 'off';

/** Defines a rule about a query as a whole. */
const settingRule = kindOfRule<Pushdown, never, [], 'none'>();

export const metricOff = settingRule({
  id: 'metricOff',
  construct: 'any query with -pushdown=off',
  verdict: 'none',
  reason: 'pushdown is off: the backend selects streams, and the proxy evaluates everything else',
  example: {
    query: '{namespace="shop"} |= "timeout"',
    whyHidden: 'any query with -pushdown=off',
    pushdown: 'off',
  },
  match: (pushdown) => pushdown === 'off',
});

/** Defines a rule about the complete backend filter of a log query. */
const filterRule = kindOfRule<LogsqlFilter, never, [], 'none'>();

/** Maximum number of bytes of a filter's text. */
// The backend's limit is 16384 bytes; the remainder is reserved for the query around the filter.
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

/** True if the text of a filter is too long. Each node takes at least three bytes with its separator. */
function isTooLong(filter: LogsqlFilter): boolean {
  if (filter.kind === 'and' && filter.parts.length * 3 > maxFilterBytes) return true;
  return Buffer.byteLength(printFilter(filter)) > maxFilterBytes;
}
