import { allOptions } from '../option-lookup.js';
import type { TextRule } from '../rule.js';

/** R055: no option is given that will go. */
export const deprecatedOption: TextRule = {
  id: 'R055',
  title: 'no deprecated option is given',
  tier: 'meaning',
  severity: 'warning',
  docs: 'The option has another name by now, or does nothing any more; the message says what to use instead. It is told wherever the value comes from: the file, a flag or the environment.',
  check: (draft) =>
    allOptions(draft).flatMap(({ definition: { deprecated }, origin, at, name }) => {
      if (deprecated === undefined || origin.kind === 'default') return [];
      const subject = origin.kind === 'yaml' ? `option "${name}"` : name;
      const fix = deprecated.startsWith('use ') ? deprecated : 'take it out';
      return [{ at, message: `${subject} is deprecated: ${deprecated}`, fix }];
    }),
};
