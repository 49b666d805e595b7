import type { LabelItem, Matcher } from '../ast.js';
import { printMatcher } from './label-filter.js';
import { append, grammar, token } from '../syntax/tokens.js';
import { matcher } from '../syntax/log-rules.js';
import { usualTraits } from './stage.js';

/** The labels of `| drop` and `| keep`. */
export const items = grammar.nonterminal<LabelItem[]>('labels');

interface WithItems {
  readonly items: readonly LabelItem[];
}

/** Common properties of both stages. */
export const itemTraits = {
  ...usualTraits,
  children: ({ items: list }: WithItems): readonly Matcher[] => list.flatMap(({ matcher: one }) => one ?? []),
  rename: renameItems,
  names: itemNames,
  // An item without a matcher is dropped or kept whatever its value is.
  groupNames: ({ items: list }: WithItems) =>
    itemNames({ items: list.filter((item) => item.matcher !== undefined) }),
  whyHere: 'labelRewrite',
} as const;

export function addItemRules(): void {
  const item = grammar.nonterminal<LabelItem>('label');
  grammar.rule(item)([token.identifier], ([name], span) => ({ name, matcher: undefined, span }));
  grammar.rule(item)([matcher], ([made], span) => ({ name: made.name, matcher: made, span }));
  grammar.rule(items)([item], ([first]) => [first]);
  grammar.rule(items)([items, token.comma, item], ([list, , next]) => append(list, next));
}

export function printItems({ items: list }: WithItems): string {
  return list.map((item) => (item.matcher === undefined ? item.name : printMatcher(item.matcher))).join(',');
}

export function itemNames({ items: list }: WithItems): readonly string[] {
  return list.map(({ name }) => name);
}

function renameItems<S extends WithItems>(stage: S, nameOf: (name: string) => string): S {
  const renamed = <N extends { readonly name: string }>(one: N): N => ({ ...one, name: nameOf(one.name) });
  return {
    ...stage,
    items: stage.items.map((item) => ({
      ...renamed(item),
      matcher: item.matcher === undefined ? undefined : renamed(item.matcher),
    })),
  };
}
