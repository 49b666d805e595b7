import { allOptions } from '../option-lookup.js';
import type { TextRule } from '../rule.js';

/** R054: an option that is given does something. */
export const unreadOption: TextRule = {
  id: 'R054',
  title: 'an option that is given has an effect',
  tier: 'meaning',
  severity: 'warning',
  docs: 'The option is known, so that files and command lines written for Loki proxies of other makes start, but no code of this version reads it. It is told wherever the value comes from: the file, a flag or the environment.',
  check: (draft) =>
    allOptions(draft)
      .filter(
        ({ definition, origin }) =>
          definition.isUnread && definition.deprecated === undefined && origin.kind !== 'default',
      )
      .map(({ at, name, origin }) => ({
        at,
        message: `${origin.kind === 'yaml' ? `option "${name}"` : name} has no effect yet: this version only checks its value`,
        fix: 'take it out',
      })),
};
