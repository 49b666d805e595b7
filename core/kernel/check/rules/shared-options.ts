import { allOptions, findOption, type FoundOption } from '../option-lookup.js';
import type { Complaint, TextRule } from '../rule.js';

/** R050: options that two plugins must agree on are equal. */
export const sharedOptions: TextRule = {
  id: 'R050',
  title: 'options that follow a flag agree with its owner',
  tier: 'meaning',
  severity: 'error',
  docs: 'Some options tell a plugin what another one does: the caches must know which credentials `backend` forwards, or one client would get answers made for another. What the file says of the one that leads holds for those that are not written; where both are written they must be alike.',
  check(draft) {
    return allOptions(draft).flatMap((option): readonly Complaint[] => {
      const flag = option.definition.shares;
      const leader = flag === undefined ? undefined : findOption(draft, flag);
      if (flag === undefined || leader === undefined || sameValue(option, leader)) return [];
      const { definition } = option;
      const message = `${definition.owner} has ${definition.key} ${shown(option)}, but ${leader.definition.owner} has ${leader.definition.key} ${shown(leader)}`;
      const fix = `take ${definition.key} out, so that it follows ${leader.definition.owner}, or write both alike`;
      return [{ at: option.at, message, fix }];
    });
  },
};

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
