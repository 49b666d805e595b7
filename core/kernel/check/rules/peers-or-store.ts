import { findOption, isFilled } from '../option-lookup.js';
import type { TextRule } from '../rule.js';

/** R058: replicas share answers in one way. */
export const peersOrStore: TextRule = {
  id: 'R058',
  title: 'replicas share answers with each other or in a store, not both',
  tier: 'meaning',
  severity: 'error',
  docs: 'With `sharedCacheUrl` the replicas keep what they share in Valkey or Redis, in place of asking each other. Both would ask twice for each answer that nobody has.',
  check(draft) {
    const store = findOption(draft, 'shared-cache-url');
    const discovery = findOption(draft, 'peer-discovery');
    if (!isFilled(store) || !isFilled(discovery)) return [];
    const message = `the shared cache and peers (discovery=${discovery.value}) are both configured`;
    return [{ at: store.at, message, fix: 'leave out -shared-cache-url or -peer-discovery' }];
  },
};
