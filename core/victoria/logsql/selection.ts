import type { LogsqlFilter } from './ast.js';
import { everything } from './build.js';

/** The part of a filter that selects streams; it matches all rows of the filter. */
export function selectionOf(filter: LogsqlFilter): LogsqlFilter {
  if (isOfStreams(filter)) return filter;
  const parts = filter.kind === 'and' ? filter.parts.filter(isOfStreams) : [];
  const [first = everything] = parts;
  return parts.length > 1 ? { kind: 'and', parts } : first;
}

/** True if a filter only depends on stream labels, so that it matches all rows of a stream or none. */
export function isOfStreams(filter: LogsqlFilter): boolean {
  switch (filter.kind) {
    case 'all':
    case 'stream':
      return true;
    case 'and':
    case 'or':
      return filter.parts.every(isOfStreams);
    case 'not':
      return isOfStreams(filter.filter);
    case 'time':
    case 'time-relative':
    case 'field':
      return false;
  }
}
