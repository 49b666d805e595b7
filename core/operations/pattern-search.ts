import { OverrideStack } from '../base/override-stack.js';
import type { Host } from '../kernel/plugin/host.js';
import type { PatternSearch } from '../wire/api/discovery-request.js';

/** The usual pattern search of a client's request; undefined while no patterns are served. The endpoint claims it. */
export function usualPatternSearch(host: Pick<Host, 'shared'>): OverrideStack<() => PatternSearch> {
  return host.shared('pattern search', () => new OverrideStack<() => PatternSearch>());
}
