import type { Random } from '../watch/random.js';
import type { PipelineLines } from './pipeline-lines.js';

/** One mistake in a file. */
export interface Fault {
  readonly text: string;
  /** The lines at which a finding is correct, counted from 0. */
  readonly lines: readonly number[];
  /** The expected fix, if there is an obvious one. */
  readonly fix?: RegExp;
}

/** A kind of mistake; undefined if it does not apply to the file. */
export type Spoiler = (file: PipelineLines, random: Random) => Fault | undefined;

/** A kind of change without effect. */
export type Shuffler = (file: PipelineLines, random: Random) => string | undefined;

/** A random item of a list, or undefined if it is empty. */
export function some<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items.length === 0 ? undefined : random.pick(items);
}

/** A misspelt word that differs from the original: a letter is left out, doubled or swapped with the next one. */
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

/** Returns `max-concurrent` for `maxConcurrent`. */
export function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function quoted(word: string): RegExp {
  return new RegExp(word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}
