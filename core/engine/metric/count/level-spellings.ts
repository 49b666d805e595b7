/** Finds levels by the words that lines of a sample spell, as they spell them. */
import { ofKey } from '../../../base/memory/byte-lru.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, field, or, phrase, substring } from '../../../victoria/logsql/build.js';
import { standsAlone } from '../../../victoria/logsql/eval/words.js';
import {
  aroundWord,
  levels,
  normalLevel,
  spelledLevels,
  spelledLevelWord,
  usualSpellings,
} from '../../../victoria/names/level-words.js';

/** Level words as programs write them. */
const spellings = spelledLevels
  .flatMap(usualSpellings)
  .map((word, index) => ({ word, level: normalLevel(word) ?? '', bit: 1 << index, style: index % 3 }));
const bitOf: ReadonlyMap<string, number> = new Map(spellings.map(({ word, bit }) => [word, bit]));
const anySpelling = new RegExp(spelledLevels.join('|'), 'gi');

/** A bit set of spellings. */
type Words = number;

/** Lines that have the same level (empty for none) and contain the same spellings. */
interface LineKind {
  /** Spellings found between word boundaries. */
  readonly words: Words;
  /** Spellings found where they decide the level. */
  readonly decisive: Words;
  readonly level: string;
  lines: number;
}

/** A level with the filter for lines that spell it. */
export interface SpelledLevel {
  readonly level: string;
  readonly filter: LogsqlFilter;
}

/** The levels that lines of a sample spell. */
export interface LevelSpellings {
  readonly levels: readonly SpelledLevel[];
  /** Number of lines that spell several levels. */
  readonly ambiguous: number;
  /** Number of lines that spell another level than they have. */
  readonly wrong: number;
}

/** Maximum number of distinct contexts of words in one style; with more, they are searched for between any word boundaries. */
const maxAround = 12;

/** Collects the level words of lines. */
export class SpelledWords {
  readonly #kinds = new Map<string, LineKind>();
  /** The characters around spellings that decide the level (`aroundWord`), by spelling; incomplete beyond `maxAround`. */
  readonly #around = new Map<Words, Set<string>>();
  /** The spellings that determine levels. */
  #used: Words = 0;

  add(line: string, level: string): void {
    const { words, decisive } = this.#spelledIn(line);
    const spelled = level === '' ? undefined : spelledLevelWord(line);
    if (spelled !== undefined) this.#used |= bitOf.get(spelled) ?? 0;
    const key = `${words} ${decisive} ${level}`;
    ofKey(this.#kinds, key, () => ({ words, decisive, level, lines: 0 })).lines += 1;
  }

  /** The level words in lower case, each with the characters around it, which are blanks at the ends of a line. */
  contexts(): readonly string[] {
    const all = spellings.flatMap(({ word, bit }) =>
      [...(this.#around.get(bit) ?? [])].map((each) => {
        const [left, right] = each.replace(/^\^|\$$/g, ' ');
        return `${left ?? ''}${word.toLowerCase()}${right ?? ''}`;
      }),
    );
    return [...new Set(all)].sort();
  }

  /** The levels that the collected lines spell, and filters that find them. */
  levels(): LevelSpellings {
    const used = [0, 1, 2].flatMap((style) => {
      const alike = spellings.filter((spelling) => spelling.style === style);
      // A program that writes ERROR may write FATAL too, in the same way, although the sample does not contain it.
      if (alike.every(({ bit }) => (bit & this.#used) === 0)) return [];
      const around = this.#aroundOf(alike);
      return alike.map((spelling) => ({ ...spelling, around }));
    });
    let [ambiguous, wrong] = [0, 0];
    for (const { words, decisive, level, lines } of this.#kinds.values()) {
      const spelled = used.filter(
        ({ bit, around }) => (bit & (around === undefined ? words : decisive)) !== 0,
      );
      const found = new Set(spelled.map((one) => one.level));
      if (found.size > 1) ambiguous += lines;
      else if (([...found][0] ?? '') !== level) wrong += lines;
    }
    const filters = levels.flatMap((level): readonly SpelledLevel[] => {
      const words = used.filter((one) => one.level === level).map(holds);
      return words.length === 0 ? [] : [{ level, filter: or(...words) }];
    });
    return { levels: filters, ambiguous, wrong };
  }

  #spelledIn(text: string): Pick<LineKind, 'words' | 'decisive'> {
    let [words, decisive] = [0, 0];
    anySpelling.lastIndex = 0;
    for (let found = anySpelling.exec(text); found !== null; found = anySpelling.exec(text)) {
      const [start, end] = [found.index, found.index + found[0].length];
      const bit = bitOf.get(found[0]);
      if (bit === undefined || !standsAlone(text, start, end)) continue;
      words |= bit;
      const around = aroundWord(text, start, end);
      if (around === undefined) continue;
      decisive |= bit;
      this.#addAround(bit, around);
    }
    return { words, decisive };
  }

  #addAround(bit: Words, around: string): void {
    const known = ofKey(this.#around, bit, () => new Set<string>());
    if (known.size <= maxAround) known.add(around);
  }

  /** The characters around these spellings; undefined if there are too many, or if one is the end of a line, which no filter can match. */
  #aroundOf(alike: readonly { readonly bit: Words }[]): readonly string[] | undefined {
    const all = [...new Set(alike.flatMap(({ bit }) => [...(this.#around.get(bit) ?? [])]))].sort();
    return all.length > maxAround || all.some((each) => each.endsWith('$')) ? undefined : all;
  }
}

/** Matches lines with a word. The backend finds words faster than the characters around them. */
function holds({
  word,
  around,
}: {
  readonly word: string;
  readonly around: readonly string[] | undefined;
}): LogsqlFilter {
  if (around === undefined) return phrase('_msg', word);
  const alternatives = around.map((each) =>
    each.startsWith('^')
      ? field('_msg', { kind: 'exact-prefix', text: `${word}${each.slice(1)}` })
      : substring('_msg', `${each.slice(0, 1)}${word}${each.slice(1)}`),
  );
  return and(phrase('_msg', word), or(...alternatives));
}
