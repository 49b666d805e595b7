import type { LintRule } from '../../core/plugin/index.js';

/** Rules about the old Loki. */
export const lint: readonly LintRule[] = [
  {
    id: 'R065',
    title: 'an old Loki requires the time until which it has data',
    severity: 'error',
    docs: 'With `-loki-history-url`, data from before `-loki-history-until` is read from the old Loki and all other data from the backend. Without the time, it is unknown where data is.',
    check(file) {
      const url = file.own('url');
      const until = file.own('until');
      if (url.text === '' || until.text !== '') return [];
      const message = `${url.name} is set but the time until which it has data is not`;
      return [{ at: url.at, message, fix: `set ${until.ways} to the time of the move` }];
    },
  },
  {
    id: 'R066',
    title: 'an old Loki is asked before queries are planned',
    severity: 'error',
    docs: 'The stage `loki-history` divides queries, and the parts need plans of their own, which `translate` makes. It needs the tenant too, so it comes after `tenancy`.',
    check(file) {
      const at = file.stages.findIndex(({ plugin }) => plugin === 'loki-history');
      const translate = file.stages.findIndex(({ plugin }) => plugin === 'translate');
      if (translate < 0 || at < translate) return [];
      return [
        {
          message: 'the stage loki-history comes after translate, so that the parts of a query have no plans',
          fix: 'move loki-history before translate',
        },
      ];
    },
  },
];
