import type { OptionFinding } from '../options/index.js';
import { placeOfOption, type DraftOptions, type PipelineDraft } from '../pipeline/draft.js';
import { meantOption } from './meant-option.js';
import type { Complaint } from './rule.js';

/** The findings of option resolution that one rule reports. */
export function optionComplaints(draft: PipelineDraft, kind: OptionFinding['kind']): readonly Complaint[] {
  const entries = draft.entries.flatMap((entry) => entry.options ?? []);
  return [...draft.sections.values(), ...entries].flatMap((owner) =>
    owner.findings
      .filter((finding) => finding.kind === kind)
      .map((finding) => {
        const fix = fixOf(draft, owner, finding);
        return {
          at: placeOfOption(owner, finding),
          message: messageOf(owner, finding),
          ...(fix === undefined ? {} : { fix }),
        };
      }),
  );
}

/** For an unknown option its right name or place, which is surer than a word that looks alike. */
function fixOf(
  draft: PipelineDraft,
  owner: DraftOptions,
  { kind, place, fix }: OptionFinding,
): string | undefined {
  if (kind !== 'unknown-option' || place.kind !== 'yaml' || place.path.length !== 1) return fix;
  return meantOption(draft, owner, String(place.path[0])) ?? fix;
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
