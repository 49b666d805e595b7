import { findOption } from '../option-lookup.js';
import type { TextRule } from '../rule.js';

/** R053: several workers have no plugin of which there can be only one. */
export const singlePlugins: TextRule = {
  id: 'R053',
  title: 'several workers run every plugin several times',
  tier: 'meaning',
  severity: 'error',
  docs: 'With `-workers` above 1 each process runs all plugins. Some, such as the embedded backend, hold what all requests need, and there can be only one of them: run the backend by itself (`ref-proxy backend`), or one worker.',
  check(draft) {
    const workers = findOption(draft, 'workers');
    if (workers === undefined || String(workers.value) === '1') return [];
    return draft.entries
      .filter(({ isEnabled, load }) => isEnabled && load.kind === 'loaded' && load.plugin.isSingle === true)
      .map(({ use, useAt }) => ({
        at: useAt,
        message: `plugin "${use}" cannot run in several workers (${workers.name} is ${String(workers.value)})`,
        fix: 'remove it, or set workers (-workers) to 1',
      }));
  },
};
