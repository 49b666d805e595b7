import type { Steps } from '../../base/pace/steps.js';
import { parseRegExp } from './parse.js';
import type { RegExpNode } from './tree.js';
import { RegExpSyntaxError } from './types.js';

/**
 * Maximum number of automaton instructions of all patterns of one query: building blocks the process for some microseconds per instruction.
 * Alternations of plain texts do not count, however long.
 */
export const maxInstructions = 6_000;
/** RE2 refuses nested repetitions whose product is greater. */
const mostRepeats = 1000;
const captureCost = 2;
const namedGroupCost = 5;

/** The size of a pattern, estimated without building anything. */
export interface PatternSize {
  /** Instructions of the automaton, roughly: counted repetitions are expanded. */
  readonly states: number;
  /** The cost of parsing its classes, in the same unit. */
  readonly reading: number;
  /** The largest product of nested repetitions. */
  readonly repeats: number;
}

/** Estimates the size of any pattern, valid or not. */
export function patternSize(pattern: string): PatternSize {
  const { root, named, reading, isCut } = parseRegExp(pattern, false, maxInstructions);
  // Each item is at least one instruction.
  if (isCut) return { states: pattern.length, reading, repeats: 1 };
  const { states, repeats } = sizeOfNode(root);
  return { states: states + namedGroupCost * named.length, reading, repeats };
}

type NodeSize = Omit<PatternSize, 'reading'>;

function sizeOfNode(node: RegExpNode): NodeSize {
  switch (node.op) {
    case 'literal':
      return { states: node.text.length, repeats: 1 };
    case 'capture': {
      const { states, repeats } = sizeOfNode(node.item);
      return { states: states + captureCost, repeats };
    }
    case 'repeat': {
      const { states, repeats } = sizeOfNode(node.item);
      const times = Math.max(node.max === Infinity ? node.min : node.max, node.min, 1);
      return { states: states * times + 1, repeats: repeats * times };
    }
    case 'concat':
    case 'alternate': {
      let states = node.op === 'alternate' ? node.items.length - 1 : 0;
      let repeats = 1;
      for (const size of node.items.map(sizeOfNode)) {
        states += size.states;
        repeats = Math.max(repeats, size.repeats);
      }
      return { states, repeats };
    }
    default:
      return { states: 1, repeats: 1 };
  }
}

class Budget {
  readonly #known = new Set<string>();
  #left = maxInstructions;

  /** @throws RegExpSyntaxError */
  take(pattern: string): void {
    if (this.#known.has(pattern)) return;
    const size = patternSize(pattern);
    // Too many repetitions are an error of RE2 itself, which reports it before anything is built.
    const cost = size.reading + (size.repeats > mostRepeats ? 0 : size.states);
    if (cost > this.#left) throw tooLarge();
    this.#left -= cost;
    this.#known.add(pattern);
  }
}

let current: Budget | undefined;

/** Runs steps in which all compiled patterns share one budget, separate from other computations. Each pattern counts once. */
export function* sharingBudget<Result>(steps: Steps<Result>): Steps<Result> {
  const budget = new Budget();
  for (;;) {
    const outer = current;
    current ??= budget;
    let step: IteratorResult<void, Result>;
    try {
      step = steps.next();
    } finally {
      current = outer;
    }
    if (step.done === true) return step.value;
    yield;
  }
}

/**
 * Call before a pattern is built or a cached one is reused.
 * @throws RegExpSyntaxError when it exceeds the query's budget
 */
export function takeFromBudget(pattern: string, isBuilt = false): void {
  if (current !== undefined) current.take(pattern);
  else if (!isBuilt) new Budget().take(pattern);
}

function tooLarge(): RegExpSyntaxError {
  return new RegExpSyntaxError(
    `error parsing regexp: expression too large: the patterns of a query may have about ${String(maxInstructions)} instructions in all`,
  );
}
