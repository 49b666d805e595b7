import type { LintRule } from '../../core/plugin/index.js';

/** Windows that no longer change are kept at least as long as those that may. */
export const lint: readonly LintRule[] = [
  {
    id: 'R064',
    title: 'windows of the past are kept at least as long as recent ones',
    severity: 'warning',
    docs: 'A recent window may still change, so it is kept for a short time (`recentCacheTtl`) or not at all; one of the past stays the same (`historyCacheTtl`). Where the second time is the shorter one, what is sure is read again and again while what may be wrong is kept. The two may have been mixed up.',
    check(file) {
      if (file.own('enabled').value === false || file.own('cacheDisabled').value === true) return [];
      const recent = file.own('recentCacheTtl');
      const history = file.own('historyCacheTtl');
      if (typeof recent.value !== 'number' || typeof history.value !== 'number') return [];
      if (recent.value <= history.value) return [];
      const { at } = recent.isGiven ? recent : history;
      const message = `${recent.name} is longer than ${history.name}: windows that may still change are kept longer than those of the past`;
      return [{ at, message, fix: `lower ${recent.ways} or raise ${history.ways}` }];
    },
  },
];
