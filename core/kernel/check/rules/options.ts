import type { OptionFinding } from '../../options/index.js';
import { placeOfOption, type DraftOptions, type PipelineDraft } from '../../pipeline/draft.js';
import { meantOption } from '../meant-option.js';
import { allOptions, enabledOwners, findOption, optionsOf, type FoundOption } from '../option-lookup.js';
import { textRules, type Complaint } from '../rule.js';

export const optionsRules = textRules('structure', [
  {
    id: 'R007',
    title: 'a plugin has the option',
    docs: 'The plugin or section has no option with this name; a misspelt option would silently keep its default. docs/flags.md lists all options.',
    check: (draft) => optionComplaints(draft, 'unknown-option'),
  },
  {
    id: 'R008',
    title: 'an option has an allowed value',
    docs: 'The value has the wrong type, is out of range, is not one of the allowed words, or is not a valid duration, address or URL. Types are never converted: `"5"` is a string, not a number. If the value comes from a flag or an environment variable, the message names it.',
    check: (draft) => optionComplaints(draft, 'bad-value'),
  },
  {
    id: 'R009',
    title: 'a required option is set',
    docs: 'The option has no default, and neither the file nor a flag nor the environment sets it. The finding points at the plugin or the mapping without it.',
    check: (draft) => optionComplaints(draft, 'missing-option'),
  },
]);

export const boundsRules = textRules('meaning', [
  {
    id: 'R046',
    title: 'a lower bound is not above its upper bound',
    docs: 'Of two options that are a lower and an upper bound (`x-not-above` in their schema), such as the minimum and maximum number of parallel reads, the first must not exceed the second. 0 as the upper bound means no limit.',
    check: (draft) =>
      enabledOwners(draft).flatMap((owner) => {
        const options = optionsOf(owner);
        return options.flatMap((least): readonly Complaint[] => {
          const most = options.find(({ key }) => key === least.definition.notAbove);
          if (typeof least.value !== 'number' || typeof most?.value !== 'number') return [];
          const isUnbounded = most.value === 0 && most.definition.kind === 'integer';
          if (least.value <= most.value || isUnbounded) return [];
          // Report the value that was set; the defaults of both are consistent.
          const { at } = least.isGiven ? least : most;
          const fix = `lower ${least.key} or raise ${most.key}`;
          return [{ at, message: `${least.name} is above ${most.name}`, fix }];
        });
      }),
  },
  {
    id: 'R050',
    title: 'options with the same flag have the same value',
    docs: 'Some options tell a plugin about another one: the caches must know which credentials `backend` forwards, or one client would get answers made for another. Options that are not in the file follow the leading option; if both are in the file, they must be equal.',
    check(draft) {
      return allOptions(draft).flatMap((option): readonly Complaint[] => {
        const flag = option.definition.shares;
        const leader = flag === undefined ? undefined : findOption(draft, flag);
        if (flag === undefined || leader === undefined || sameValue(option, leader)) return [];
        const { definition, key } = option;
        const message = `${definition.owner} has ${key} ${shown(option)}, but ${leader.definition.owner} has ${leader.key} ${shown(leader)}`;
        const fix = `remove ${key}, so that it follows ${leader.definition.owner}, or set both to the same value`;
        return [{ at: option.at, message, fix }];
      });
    },
  },
]);

/** These lists are sets of names, so their order does not matter. */
function sameValue(a: FoundOption, b: FoundOption): boolean {
  return comparable(a.value) === comparable(b.value);
}

function comparable(value: unknown): string {
  return JSON.stringify(Array.isArray(value) ? value.map(String).sort() : (value ?? null));
}

function shown({ value }: FoundOption): string {
  return JSON.stringify(value ?? null);
}

/** The findings of option resolution that one rule reports. */
function optionComplaints(draft: PipelineDraft, kind: OptionFinding['kind']): readonly Complaint[] {
  const entries = draft.entries.flatMap((entry) => entry.options ?? []);
  return [...draft.sections.values(), ...entries].flatMap((owner) =>
    owner.findings
      .filter((finding) => finding.kind === kind)
      .map((finding) => ({
        at: placeOfOption(owner, finding),
        message: messageOf(owner, finding),
        fix: fixOf(draft, owner, finding),
      })),
  );
}

/** The fix. For an unknown option that is its right name or section, which is more reliable than a similar word. */
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
