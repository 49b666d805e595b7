import type { TextRule } from '../rule.js';

/** R006: sections, lists and entries have the form of schemas/pipeline.schema.json. */
export const frame: TextRule = {
  id: 'R006',
  title: 'the frame of the file is as its schema says',
  tier: 'structure',
  severity: 'error',
  docs: 'The top level knows `version` (1), the sections `server`, `names`, `limits`, `telemetry` and the lists `stages`, `endpoints`, `services`; an entry of a list knows `use`, `id`, `enabled` and `with`. See schemas/pipeline.schema.json.',
  check: (draft) =>
    draft.shape
      // A fragment in Markdown shows part of a pipeline: what it leaves out is not missing.
      .filter((problem) => !(draft.source.isFragment && problem.kind === 'missing' && problem.isTop))
      .map(({ at, message, fix }) => ({ at, message, ...(fix === undefined ? {} : { fix }) })),
};
