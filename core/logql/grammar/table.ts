import { addTo } from '../../base/order.js';
import type { Grammar, Rule, Terminal, Nonterminal } from './symbols.js';

/** The actions of one state. */
export interface TableRow {
  readonly shifts: ReadonlyMap<number, number>;
  /** Reductions other than the default one, by token. */
  readonly reductions: ReadonlyMap<number, Rule>;
  /** The default reduction for every other token; without one, such a token is an error. */
  readonly fallback: Rule | undefined;
  readonly gotos: ReadonlyMap<number, number>;
  /** Names of the tokens accepted here, in declaration order, if there are at most four. */
  readonly expected: readonly string[];
}

export interface Table {
  readonly grammar: Grammar;
  readonly rows: readonly TableRow[];
  /** The number of shift/reduce conflicts that no precedence resolved (shift won). */
  readonly shiftConflicts: number;
  /** The number of reduce/reduce conflicts (the earlier rule won). */
  readonly reduceConflicts: number;
}

const maxExpected = 4;

/**
 * Builds the LALR(1) table as yacc does, so that errors occur in the same state with the same expected tokens: precedence resolves
 * conflicts, otherwise shift wins; the most common reduction of a state becomes its default and runs without reading the token.
 */
export function buildTable(grammar: Grammar): Table {
  const states = buildAutomaton(grammar);
  const lookahead = computeLookahead(grammar, states);
  let shiftConflicts = 0;
  let reduceConflicts = 0;
  const rows = states.map((state, number): TableRow => {
    const shifts = new Map(state.shifts);
    const reductions = new Map<number, Rule>();
    for (const rule of [...state.complete].sort((a, b) => a.index - b.index)) {
      const tokens = lookahead(number, rule);
      for (let token = 0; tokens >> BigInt(token) !== 0n; token++) {
        if (((tokens >> BigInt(token)) & 1n) === 0n) continue;
        if (reductions.has(token)) {
          reduceConflicts++;
          continue;
        }
        if (shifts.has(token)) {
          const choice = resolveConflict(rule, grammar.terminals[token]);
          if (choice === 'conflict') shiftConflicts++;
          if (choice !== 'reduce') continue;
          shifts.delete(token);
        }
        reductions.set(token, rule);
      }
    }
    const fallback = shifts.has(grammar.error.index) ? undefined : mostCommon(reductions);
    for (const [token, rule] of reductions) if (rule === fallback) reductions.delete(token);
    return { shifts, reductions, fallback, gotos: state.gotos, expected: expectedNames(grammar, shifts) };
  });
  return { grammar, rows, shiftConflicts, reduceConflicts };
}

/** The precedence of a rule is that of its last terminal, even when that has none. */
function resolveConflict(rule: Rule, token: Terminal<unknown> | undefined): 'shift' | 'reduce' | 'conflict' {
  const last = rule.right.findLast((symbol) => symbol.kind === 'terminal');
  if (last?.kind !== 'terminal' || token === undefined || last.level === 0 || token.level === 0)
    return 'conflict';
  if (last.level !== token.level) return last.level > token.level ? 'reduce' : 'shift';
  return token.associativity === 'left' ? 'reduce' : 'shift';
}

/** The rule reduced before most tokens; in a tie, the one whose token was declared first. */
function mostCommon(reductions: ReadonlyMap<number, Rule>): Rule | undefined {
  const counts = new Map<Rule, number>();
  for (const [, rule] of [...reductions].sort(([a], [b]) => a - b))
    counts.set(rule, (counts.get(rule) ?? 0) + 1);
  let best: Rule | undefined;
  let bestCount = 0;
  for (const [rule, count] of counts) {
    if (count <= bestCount) continue;
    best = rule;
    bestCount = count;
  }
  return best;
}

function expectedNames(grammar: Grammar, shifts: ReadonlyMap<number, number>): readonly string[] {
  const hidden = new Set([grammar.end.index, grammar.error.index]);
  const tokens = [...shifts.keys()].filter((token) => !hidden.has(token)).sort((a, b) => a - b);
  return tokens.length > maxExpected ? [] : tokens.map((token) => grammar.terminals[token]?.name ?? '');
}

/** One LR(0) state: its transitions, and the rules that are complete in it. */
interface State {
  readonly shifts: Map<number, number>;
  readonly gotos: Map<number, number>;
  readonly complete: readonly Rule[];
}

interface Item {
  readonly rule: Rule;
  readonly dot: number;
}

/** Builds the LR(0) automaton; state 0 starts the rule at index 0. */
function buildAutomaton(grammar: Grammar): State[] {
  const rulesOf = groupRules(grammar);
  const states: State[] = [];
  const kernels: Item[][] = [];
  const known = new Map<string, number>();
  const stateOf = (kernel: Item[]): number => {
    const key = kernel.map(({ rule, dot }) => rule.index * 16 + dot).join();
    let number = known.get(key);
    if (number === undefined) {
      number = kernels.length;
      known.set(key, number);
      kernels.push(kernel);
    }
    return number;
  };
  stateOf(grammar.rules.slice(0, 1).map((rule) => ({ rule, dot: 0 })));
  for (let kernel = kernels[0]; kernel !== undefined; kernel = kernels[states.length]) {
    states.push(expand(kernel, rulesOf, stateOf));
  }
  return states;
}

function groupRules(grammar: Grammar): ReadonlyMap<Nonterminal<unknown>, readonly Rule[]> {
  const rulesOf = new Map<Nonterminal<unknown>, Rule[]>();
  for (const rule of grammar.rules) addTo(rulesOf, rule.left, rule);
  return rulesOf;
}

function expand(
  kernel: readonly Item[],
  rulesOf: ReadonlyMap<Nonterminal<unknown>, readonly Rule[]>,
  stateOf: (kernel: Item[]) => number,
): State {
  const items = [...kernel];
  const opened = new Set<Nonterminal<unknown>>();
  const complete: Rule[] = [];
  const shiftKernels = new Map<number, Item[]>();
  const gotoKernels = new Map<number, Item[]>();
  // The list grows during iteration: each nonterminal after a dot adds its rules once.
  for (const { rule, dot } of items) {
    const next = rule.right[dot];
    if (next === undefined) {
      complete.push(rule);
      continue;
    }
    const kernels = next.kind === 'terminal' ? shiftKernels : gotoKernels;
    addTo(kernels, next.index, { rule, dot: dot + 1 });
    if (next.kind === 'terminal' || opened.has(next)) continue;
    opened.add(next);
    for (const opening of rulesOf.get(next) ?? []) items.push({ rule: opening, dot: 0 });
  }
  return { complete, shifts: targets(shiftKernels, stateOf), gotos: targets(gotoKernels, stateOf) };
}

function targets(kernels: Map<number, Item[]>, stateOf: (kernel: Item[]) => number): Map<number, number> {
  const out = new Map<number, number>();
  for (const [symbol, kernel] of kernels) {
    kernel.sort((a, b) => a.rule.index - b.rule.index || a.dot - b.dot);
    out.set(symbol, stateOf(kernel));
  }
  return out;
}

/** The tokens before which a state may reduce a complete rule, as a bit set. */
type Lookahead = (state: number, rule: Rule) => bigint;

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
function computeLookahead(grammar: Grammar, states: readonly State[]): Lookahead {
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
      addTo(lookback, last * grammar.rules.length + rule.index, transition);
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
