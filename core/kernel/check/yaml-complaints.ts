import type { PipelineDraft } from '../pipeline/draft.js';
import type { YamlProblemKind } from '../pipeline/yaml-problem.js';
import type { Complaint } from './rule.js';

/** The findings of YAML parsing that one rule reports. */
export function yamlComplaints(draft: PipelineDraft, kind: YamlProblemKind): readonly Complaint[] {
  return draft.yaml
    .filter((problem) => problem.kind === kind)
    .map(({ at, message, fix }) => ({ at, message, ...(fix === undefined ? {} : { fix }) }));
}
