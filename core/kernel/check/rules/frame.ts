import type { PipelineDraft } from '../../pipeline/draft.js';
import type { ShapeProblem } from '../../pipeline/shape.js';
import { meantBeside } from '../meant-option.js';
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
      .map((problem) => {
        const fix = problem.kind === 'unknown' ? (meantPlace(draft, problem) ?? problem.fix) : problem.fix;
        return { at: problem.at, message: problem.message, ...(fix === undefined ? {} : { fix }) };
      }),
};

/** Options stand in sections, or under `with`. */
function meantPlace(draft: PipelineDraft, { path = [], at, meant }: ShapeProblem): string | undefined {
  const key = path.at(-1);
  if (meant !== undefined && meant === String(key).toLowerCase()) return undefined;
  if (typeof key !== 'string' || (path.length !== 1 && path.length !== 3)) return undefined;
  const entry = draft.entries.findLast((each) => path.length === 3 && each.at.line <= at.line);
  return meantBeside(draft, entry?.options, key);
}
