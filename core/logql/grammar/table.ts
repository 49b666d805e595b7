import { buildAutomaton } from './automaton.js';
import { computeLookahead } from './lookahead.js';
import type { Grammar, Rule, Terminal } from './symbols.js';

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
