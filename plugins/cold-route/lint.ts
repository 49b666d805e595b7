import type { LintRule } from '../../core/plugin/index.js';

/** Cold routing requires a backend. */
export const lint: readonly LintRule[] = [
  {
    id: 'R049',
    title: 'cold routing needs a cold backend',
    severity: 'error',
    docs: 'With `-cold-enabled` old data is read from a second backend, which `-cold-backend` names.',
    check(file) {
      const enabled = file.own('enabled');
      const backend = file.own('backend');
      if (enabled.value !== true || backend.text !== '') return [];
      const message = `${enabled.name} is true but no cold backend is given`;
      return [{ at: enabled.at, message, fix: `set ${backend.ways}` }];
    },
  },
];
