import { entryOf } from '../../pipeline/located.js';
import type { Complaint, TextRule } from '../rule.js';

/** R035: there is at least one stage, and an endpoint that calls it. */
export const emptyList: TextRule = {
  id: 'R035',
  title: 'there is a stage and an endpoint plugin',
  tier: 'meaning',
  severity: 'error',
  isAboutWhole: true,
  docs: 'Without an enabled endpoint plugin no HTTP route is served, and without an enabled stage no request is answered.',
  check(draft) {
    return (['stages', 'endpoints'] as const).flatMap((list): readonly Complaint[] => {
      const written = entryOf(draft.root, list);
      // A list that is missing or malformed is reported by R006.
      if (written === undefined || (written.value.kind !== 'list' && !isNull(written.value))) return [];
      if (draft.entries.some((entry) => entry.list === list && entry.isEnabled)) return [];
      if (written.value.kind === 'list' && draft.shape.length > 0) return [];
      if (draft.lacksEntries === true) return [];
      const what =
        list === 'stages' ? 'stage: no request can be answered' : 'endpoint plugin: no route is served';
      const fix =
        list === 'stages'
          ? 'see pipelines/minimal.yaml for the least that answers'
          : 'add "- use: reference-api"';
      return [{ at: written.keyAt, message: `"${list}" holds no enabled ${what}`, fix }];
    });
  },
};

function isNull(node: { readonly kind: string; readonly value?: unknown }): boolean {
  return node.kind === 'scalar' && node.value === null;
}
