import { OverrideStack } from '../base/override-stack.js';
import type { Host } from '../kernel/plugin/host.js';
import type { PatternSearch } from '../wire/api/discovery-request.js';

/** How patterns are searched for when a client asks; undefined while none are served. The endpoint claims it. */
export function usualPatternSearch(host: Pick<Host, 'shared'>): OverrideStack<() => PatternSearch> {
  return host.shared('pattern search', () => new OverrideStack<() => PatternSearch>());
}
