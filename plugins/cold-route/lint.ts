import type { LintRule } from '../../core/plugin/index.js';

/** Cold routing requires a backend. */
export const lint: readonly LintRule[] = [
  {
    id: 'R049',
    title: 'cold routing requires a cold backend',
    severity: 'error',
    docs: 'With `-cold-enabled`, old data is read from a second backend, whose URL `-cold-backend` sets.',
    check(file) {
      const enabled = file.own('enabled');
      const backend = file.own('backend');
      if (enabled.value !== true || backend.text !== '') return [];
      const message = `${enabled.name} is true but no cold backend is set`;
      return [{ at: enabled.at, message, fix: `set ${backend.ways}` }];
    },
  },
];
