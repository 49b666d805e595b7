import type { LabelFilter } from '../../../../logql/ast.js';
import { isDeeperThan } from '../../../../logql/walk.js';
import { kindOfRule } from '../rule.js';

/** Defines a rule about a label filter as a whole. */
const labelTreeRule = kindOfRule<LabelFilter, never, [], 'none'>();

const deepest = 50;

export const labelDeep = labelTreeRule({
  id: 'labelDeep',
  construct: 'label filters nested deeper than 50 levels',
  backend: '',
  verdict: 'none',
  reason: 'the backend query would be no shorter than the rows are many',
  example: {
    query: `{namespace="shop"} | ${Array<string>(deepest + 1)
      .fill('a="b"')
      .join(' and ')}`,
    whyHidden: 'the query would have more than 50 levels',
  },
  match: (filter) => isDeeperThan(filter, deepest),
});
