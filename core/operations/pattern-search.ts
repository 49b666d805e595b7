import type { Host } from '../kernel/plugin/host.js';
import type { PatternSearch } from '../wire/api/discovery-request.js';

/** How patterns are searched for when a client asks; undefined while none are served. The endpoint sets it. */
export function usualPatternSearch(host: Pick<Host, 'shared'>): { current: PatternSearch | undefined } {
  return host.shared<{ current: PatternSearch | undefined }>('pattern search', () => ({
    current: undefined,
  }));
}
