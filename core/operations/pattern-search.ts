import { OverrideStack } from '../base/override-stack.js';
import type { Host } from '../kernel/plugin/host.js';
import type { PatternSearch } from '../wire/api/request.js';

/** The usual pattern search of a client's request, which the patterns endpoint provides; undefined if no patterns are served. */
export function usualPatternSearch(host: Pick<Host, 'shared'>): OverrideStack<() => PatternSearch> {
  return host.shared('pattern search', () => new OverrideStack<() => PatternSearch>());
}
