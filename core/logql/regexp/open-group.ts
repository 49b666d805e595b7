import { concatenation, sequence, withMergedSingles } from './alternation.js';
import { pushed, type RegExpNode } from './tree.js';

/** The flags of RE2 at the current position. */
export interface Flags {
  readonly folds: boolean;
  readonly dotAll: boolean;
  readonly manyLines: boolean;
  readonly ungreedy: boolean;
}

/** A group whose end has not been read. */
export interface OpenGroup {
  readonly captures: boolean;
  readonly name: string | undefined;
  readonly outside: Flags;
  readonly alternatives: RegExpNode[];
  items: RegExpNode[];
}

export function opened(captures: boolean, name: string | undefined, outside: Flags): OpenGroup {
  return { captures, name, outside, alternatives: [], items: [] };
}

export function endAlternative(group: OpenGroup): void {
  group.alternatives.push(concatenation(group.items));
  group.items = [];
}

export function closed(group: OpenGroup): RegExpNode {
  endAlternative(group);
  return pushed(sequence('alternate', withMergedSingles(group.alternatives)));
}

export function changedFlags(flags: Flags, letters: string, value: boolean): Flags {
  return {
    folds: letters.includes('i') ? value : flags.folds,
    dotAll: letters.includes('s') ? value : flags.dotAll,
    manyLines: letters.includes('m') ? value : flags.manyLines,
    ungreedy: letters.includes('U') ? value : flags.ungreedy,
  };
}
