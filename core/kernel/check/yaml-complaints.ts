import type { PipelineDraft } from '../pipeline/draft.js';
import type { YamlProblemKind } from '../pipeline/yaml-problem.js';
import type { Complaint } from './rule.js';

/** What the reading of the text found, for the rule that speaks about it. */
export function yamlComplaints(draft: PipelineDraft, kind: YamlProblemKind): readonly Complaint[] {
  return draft.yaml
    .filter((problem) => problem.kind === kind)
    .map(({ at, message, fix }) => ({ at, message, ...(fix === undefined ? {} : { fix }) }));
}
