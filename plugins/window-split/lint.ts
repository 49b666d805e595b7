import type { LintRule } from '../../core/plugin/index.js';

/** Windows that no longer change are kept at least as long as those that may. */
export const lint: readonly LintRule[] = [
  {
    id: 'R064',
    title: 'past windows are cached at least as long as recent windows',
    severity: 'warning',
    docs: 'A recent window may still change, so its TTL (`recentCacheTtl`) is short or 0; a window of the past does not change (`historyCacheTtl`). If the second TTL is shorter, the proxy reads final windows again and again, but keeps windows that may be out of date. The two options may have been mixed up.',
    check(file) {
      if (file.own('enabled').value === false || file.own('cacheDisabled').value === true) return [];
      const recent = file.own('recentCacheTtl');
      const history = file.own('historyCacheTtl');
      if (typeof recent.value !== 'number' || typeof history.value !== 'number') return [];
      if (recent.value <= history.value) return [];
      const { at } = recent.isGiven ? recent : history;
      const message = `${recent.name} is longer than ${history.name}: windows that may still change are cached longer than past windows`;
      return [{ at, message, fix: `lower ${recent.ways} or raise ${history.ways}` }];
    },
  },
];
