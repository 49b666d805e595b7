import { findOption } from '../option-lookup.js';
import type { TextRule } from '../rule.js';

/** R040: dotted labels are not shown while queries on them are refused. */
export const dottedNames: TextRule = {
  id: 'R040',
  title: 'passthrough labels need dotted names in queries',
  tier: 'meaning',
  severity: 'warning',
  docs: 'With `labelStyle: passthrough` labels carry their dotted backend names. With `logqlDottedNames: reject` queries may not use dotted names, so that those labels cannot be queried. The specification allows it all the same.',
  check(draft) {
    const style = findOption(draft, 'label-style');
    const dotted = findOption(draft, 'logql-dotted-names');
    if (style?.value !== 'passthrough' || dotted?.value !== 'reject') return [];
    const message = `${dotted.name} "reject" contradicts ${style.name} "passthrough": labels with dots cannot be queried`;
    return [{ at: dotted.at, message, fix: 'use "accept" or "auto"' }];
  },
};
