import type { OptionFinding } from '../options/index.js';
import { placeOfOption, type DraftOptions, type PipelineDraft } from '../pipeline/draft.js';
import type { Complaint } from './rule.js';

/** The findings of option resolution that one rule reports. */
export function optionComplaints(draft: PipelineDraft, kind: OptionFinding['kind']): readonly Complaint[] {
  const entries = draft.entries.flatMap((entry) => entry.options ?? []);
  return [...draft.sections.values(), ...entries].flatMap((owner) =>
    owner.findings
      .filter((finding) => finding.kind === kind)
      .map((finding) => ({
        at: placeOfOption(owner, finding),
        message: messageOf(owner, finding),
        ...(finding.fix === undefined ? {} : { fix: finding.fix }),
      })),
  );
}

function messageOf(owner: DraftOptions, finding: OptionFinding): string {
  switch (finding.kind) {
    case 'unknown-option':
      return `${finding.message} to ${owner.owner}`;
    case 'missing-option':
      return `${owner.owner}: ${finding.message}`;
    case 'bad-value':
      return finding.message;
  }
}
