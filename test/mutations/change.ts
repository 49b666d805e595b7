import type { Random } from '../watch/random.js';
import type { PipelineLines } from './pipeline-lines.js';

/** One mistake in a file. */
export interface Fault {
  readonly text: string;
  /** The lines at which a finding is right, counted from 0. */
  readonly lines: readonly number[];
  /** What the fix has to say, where one is obvious. */
  readonly fix?: RegExp;
}

/** A kind of mistake; undefined where the file has nothing of the sort. */
export type Spoiler = (file: PipelineLines, random: Random) => Fault | undefined;

/** A kind of change that changes nothing that matters. */
export type Shuffler = (file: PipelineLines, random: Random) => string | undefined;

/** Something of a list, or undefined when it is empty. */
export function some<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items.length === 0 ? undefined : random.pick(items);
}

/** A word with a slip in it that makes another word: a letter left out, doubled or swapped with its neighbour. */
export function misspelt(word: string, random: Random): string {
  for (;;) {
    const at = random.between(1, word.length - 2);
    const [a = '', b = ''] = [word[at], word[at + 1]];
    const slip = random.pick([
      word.slice(0, at) + word.slice(at + 1),
      word.slice(0, at) + a + word.slice(at),
      word.slice(0, at) + b + a + word.slice(at + 2),
    ]);
    if (slip !== word) return slip;
  }
}

/** `maxConcurrent` as `max-concurrent`. */
export function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function quoted(word: string): RegExp {
  return new RegExp(word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}
