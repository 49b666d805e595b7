import { groupRules, type State } from './automaton.js';
import type { Grammar, Nonterminal, Rule } from './symbols.js';

/** The tokens before which a state may reduce a complete rule, as a bit set. */
export type Lookahead = (state: number, rule: Rule) => bigint;

/** A transition over a nonterminal: its follow set, and the transitions whose follow sets it includes. */
interface Transition {
  readonly left: Nonterminal<unknown>;
  readonly state: number;
  readonly includes: Transition[];
  follow: bigint;
}

/**
 * LALR(1) lookahead after DeRemer and Pennello: the follow set of a transition is the tokens readable right after it, plus the follow sets
 * of the transitions that end with it.
 */
export function computeLookahead(grammar: Grammar, states: readonly State[]): Lookahead {
  const nullable = nullableSymbols(grammar);
  const width = grammar.nonterminals.length;
  const transitions = new Map<number, Transition>();
  for (const [number, state] of states.entries()) {
    for (const [symbol, target] of state.gotos) {
      const left = grammar.nonterminals[symbol];
      if (left === undefined) continue;
      let follow = 0n;
      for (const token of states[target]?.shifts.keys() ?? []) follow |= 1n << BigInt(token);
      transitions.set(number * width + symbol, { left, state: number, includes: [], follow });
    }
  }
  const lookback = new Map<number, Transition[]>();
  const rulesOf = groupRules(grammar);
  for (const transition of transitions.values()) {
    const target = states[transition.state]?.gotos.get(transition.left.index) ?? 0;
    for (const symbol of states[target]?.gotos.keys() ?? []) {
      const behind = nullable.has(symbol) ? transitions.get(target * width + symbol) : undefined;
      if (behind !== undefined) transition.includes.push(behind);
    }
    for (const rule of rulesOf.get(transition.left) ?? []) {
      const last = walk(rule, transition, states, nullable, (state, symbol) =>
        transitions.get(state * width + symbol),
      );
      const key = last * grammar.rules.length + rule.index;
      const list = lookback.get(key);
      if (list === undefined) lookback.set(key, [transition]);
      else list.push(transition);
    }
  }
  spread([...transitions.values()]);
  return (state, rule) =>
    (lookback.get(state * grammar.rules.length + rule.index) ?? []).reduce(
      (set, { follow }) => set | follow,
      0n,
    );
}

/** Follows a rule from the start of its left side, links the transitions that end it, and returns its final state. */
function walk(
  rule: Rule,
  whole: Transition,
  states: readonly State[],
  nullable: ReadonlySet<number>,
  transitionAt: (state: number, symbol: number) => Transition | undefined,
): number {
  const { right } = rule;
  const isOptional = (index: number): boolean => {
    const symbol = right[index];
    return symbol?.kind === 'nonterminal' && nullable.has(symbol.index);
  };
  let firstOptional = right.length;
  while (firstOptional > 0 && isOptional(firstOptional - 1)) firstOptional--;
  let at = whole.state;
  for (const [index, symbol] of right.entries()) {
    const state = states[at];
    if (symbol.kind === 'nonterminal' && index + 1 >= firstOptional)
      transitionAt(at, symbol.index)?.includes.push(whole);
    at = (symbol.kind === 'terminal' ? state?.shifts : state?.gotos)?.get(symbol.index) ?? 0;
  }
  return at;
}

/** Propagates follow sets along `includes` until nothing changes. */
function spread(transitions: readonly Transition[]): void {
  for (let changed = true; changed;) {
    changed = false;
    for (const transition of transitions) {
      let follow = transition.follow;
      for (const source of transition.includes) follow |= source.follow;
      changed ||= follow !== transition.follow;
      transition.follow = follow;
    }
  }
}

function nullableSymbols(grammar: Grammar): Set<number> {
  const nullable = new Set<number>();
  for (let before = -1; before !== nullable.size;) {
    before = nullable.size;
    for (const { left, right } of grammar.rules) {
      if (right.every((symbol) => symbol.kind === 'nonterminal' && nullable.has(symbol.index))) {
        nullable.add(left.index);
      }
    }
  }
  return nullable;
}
