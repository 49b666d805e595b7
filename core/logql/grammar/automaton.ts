import type { Grammar, Nonterminal, Rule } from './symbols.js';

/** One LR(0) state: its transitions, and the rules that are complete in it. */
export interface State {
  readonly shifts: Map<number, number>;
  readonly gotos: Map<number, number>;
  readonly complete: readonly Rule[];
}

interface Item {
  readonly rule: Rule;
  readonly dot: number;
}

/** Builds the LR(0) automaton; state 0 starts the rule at index 0. */
export function buildAutomaton(grammar: Grammar): State[] {
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

export function groupRules(grammar: Grammar): ReadonlyMap<Nonterminal<unknown>, readonly Rule[]> {
  const rulesOf = new Map<Nonterminal<unknown>, Rule[]>();
  for (const rule of grammar.rules) {
    const rules = rulesOf.get(rule.left);
    if (rules === undefined) rulesOf.set(rule.left, [rule]);
    else rules.push(rule);
  }
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
    const moved = { rule, dot: dot + 1 };
    const list = kernels.get(next.index);
    if (list === undefined) kernels.set(next.index, [moved]);
    else list.push(moved);
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
