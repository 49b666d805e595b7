import type { ListName } from '../../pipeline/draft.js';
import type { Plugin } from '../../plugin/contract.js';
import type { TextRule } from '../rule.js';

const listOf: Readonly<Record<Plugin['kind'], ListName>> = {
  stage: 'stages',
  endpoint: 'endpoints',
  service: 'services',
};

/** R022: stages, endpoint plugins and service plugins are in their own lists. */
export const wrongList: TextRule = {
  id: 'R022',
  title: 'a plugin stands in the list of its kind',
  tier: 'meaning',
  severity: 'error',
  docs: 'Stages go into `stages`, endpoint plugins into `endpoints`, service plugins into `services`.',
  check: (draft) =>
    draft.entries.flatMap(({ load, list, useAt }) => {
      if (load.kind !== 'loaded') return [];
      const { kind, name } = load.plugin;
      const right = listOf[kind];
      if (right === list) return [];
      return [
        {
          at: useAt,
          message: `"${name}" is ${kind === 'endpoint' ? 'an endpoint' : `a ${kind}`} plugin and cannot stand in "${list}"`,
          fix: `move it to "${right}"`,
        },
      ];
    }),
};
