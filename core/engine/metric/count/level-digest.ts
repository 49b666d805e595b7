/** Counts lines by the level that is written in them, and learns from a sample how they write it. */
import { ofKey } from '../../../base/memory/byte-lru.js';
import type { Steps } from '../../../base/pace/steps.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import {
  and,
  exact,
  extract,
  extractRegexp,
  field,
  formatInto,
  not,
  oneOf,
  or,
  phrase,
  present,
  substring,
} from '../../../victoria/logsql/build.js';
import { standsAlone } from '../../../victoria/logsql/eval/words.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { commonForms, type LevelForm, valueIn } from '../../../victoria/names/level-forms.js';
import {
  aroundWord,
  levels,
  levelWordPattern,
  normalLevel,
  spelledLevels,
  spelledLevelWord,
  usualSpellings,
  wordsOfLevel,
} from '../../../victoria/names/level-words.js';
import { levelFromLine } from '../../../victoria/names/level.js';
import { decline, type Declined } from '../cost.js';
import { levelColumns, levelPipes, mayHaveValue, startsObject, writtenLevels } from './level-conditions.js';
import {
  type Get,
  type LineDigest,
  type LineQuestion,
  minLinesPerClass,
  noLevel,
  type ProvenDigest,
  representedLevel,
  type RepresentativeLine,
} from './line-digests.js';

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
  /** True if the first level word determines the level, or if there is none of either. */
  readonly isOfFirst: boolean;
  lines: number;
}

/** A level with the filter for lines that spell it. */
interface SpelledLevel {
  readonly level: string;
  readonly filter: LogsqlFilter;
}

/** The levels that lines of a sample spell. */
interface LevelSpellings {
  readonly levels: readonly SpelledLevel[];
  /** Number of lines whose level is neither the only one that they spell nor the first of several. */
  readonly wrong: number;
}

/** Maximum number of distinct contexts of words in one style; with more, they are searched for between any word boundaries. */
const maxAround = 12;

/** Collects the level words of lines. */
class SpelledWords {
  readonly #kinds = new Map<string, LineKind>();
  /** The characters around spellings that decide the level (`aroundWord`), by spelling; incomplete beyond `maxAround`. */
  readonly #around = new Map<Words, Set<string>>();
  /** The spellings that determine levels. */
  #used: Words = 0;

  add(line: string, level: string): void {
    const { words, decisive } = this.#spelledIn(line);
    const first = spelledLevelWord(line);
    if (first !== undefined && level !== '') this.#used |= bitOf.get(first) ?? 0;
    const isOfFirst = (normalLevel(first ?? '') ?? '') === level;
    const key = `${words} ${decisive} ${level} ${isOfFirst}`;
    ofKey(this.#kinds, key, () => ({ words, decisive, level, isOfFirst, lines: 0 })).lines += 1;
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
    let wrong = 0;
    for (const { words, decisive, level, isOfFirst, lines } of this.#kinds.values()) {
      const spelled = used.filter(
        ({ bit, around }) => (bit & (around === undefined ? words : decisive)) !== 0,
      );
      const found = new Set(spelled.map((one) => one.level));
      const isRight = found.size > 1 ? isOfFirst : ([...found][0] ?? '') === level;
      if (!isRight) wrong += lines;
    }
    const filters = levels.flatMap((level): readonly SpelledLevel[] => {
      const words = used.filter((one) => one.level === level).map(holds);
      return words.length === 0 ? [] : [{ level, filter: or(...words) }];
    });
    return { levels: filters, wrong };
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

/** Distinguishes lines by their levels. */
export const levelQuestion: LineQuestion = { key: 'level', digestFor: levelDigestFor };

/** Maximum number of forms that lines are searched for. */
const maxForms = 6;
/** All usual spellings of the values of level fields and pairs. */
const levelValues: readonly string[] = levels.flatMap(valuesOf);

/** Derives a digest from a sample of lines. */
function* levelDigestFor(lines: readonly string[]): Steps<LineDigest | Declined> {
  const forms = yield* commonForms(lines, maxForms);
  const words = new SpelledWords();
  let sentLines = 0;
  for (const line of lines) {
    yield;
    const level = levelFromLine(line) ?? '';
    const value = valueIn(line, forms);
    const valueLevel = value === undefined ? undefined : levelOfValue(value);
    if (valueLevel !== undefined && valueLevel === level) continue;
    words.add(line, level);
    if (mayHaveValue(line) && (value === undefined || valueLevel !== undefined)) sentLines += 1;
  }
  if (sentLines * minLinesPerClass > lines.length) return decline('lines-differ');
  const spelled = words.levels();
  const digest = levelDigestOf(forms, words.contexts());
  // Streams with lines that are wrong are counted by the rules.
  return spelled.wrong * 2 > lines.length
    ? digest
    : { ...digest, proven: provenDigest(digest, forms, spelled) };
}

function levelOfValue(value: string): string | undefined {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return normalLevel(isQuoted ? value.slice(1, -1) : value);
}

/** A line that consists of the level word alone has that level. */
function representingLevel(level: string | undefined): RepresentativeLine {
  return { line: level ?? noLevel };
}

/** The digest of lines that may have their level in these forms. */
function levelDigestOf(forms: readonly LevelForm[], contexts: readonly string[]): LineDigest {
  const { level, line } = levelColumns;
  return {
    pipes: levelPipes(forms, contexts),
    columns: [level, line],
    representativeOf(get) {
      const whole = get(line) ?? '';
      return representingLevel(whole === '' ? levelOfValue(get(level) ?? '') : levelFromLine(whole));
    },
  };
}

function valuesOf(level: string): readonly string[] {
  return writtenLevels(wordsOfLevel(level).flatMap(usualSpellings));
}

// Unlikely as the names of a client's fields, which would only be overwritten during counting.
const value = '__level_cut';
const spelling = '__level_spelled';
/** The `value` of lines that are known to have no level. It contains the ends of all forms, so none can cut it out of a line. */
const levelless = '" ';
const firstWord = levelWordPattern(`(?P<${value}>`, `(?i:${spelledLevels.join('|')})`);

/**
 * The digest of lines whose first value in one of the forms is the level, and which otherwise have the level of their first level word, or
 * none. Of lines that spell only one level, the first word need not be searched for.
 */
function provenDigest(
  { pipes }: LineDigest,
  forms: readonly LevelForm[],
  { levels: spelledLevel }: LevelSpellings,
): ProvenDigest<LineDigest> {
  const isUncut = not(present(value));
  const isSeveral = and(present(spelling), not(oneOf(spelling, Object.keys(spelledLevel))));
  const withForm = forms.filter(({ kind }) => kind !== 'number');
  const proven: readonly LogsqlPipe[] = [
    ...withForm.map(({ prefix, suffix, kind }) => ({
      ...extract('_msg', `${prefix}<plain:${value}>${suffix}`),
      condition: and(kind === 'pair' ? not(startsObject) : startsObject, isUncut),
    })),
    ...(withForm.length === 0 ? [] : [formatInto(value, '', not(oneOf(value, [...levelValues, levelless])))]),
    ...spelledLevel.map(({ filter }, index) =>
      formatInto(spelling, `<${spelling}>${String(index)}`, and(isUncut, filter)),
    ),
    ...(spelledLevel.length < 2
      ? []
      : [{ ...extractRegexp('_msg', firstWord), condition: isSeveral }, formatInto(spelling, '', isSeveral)]),
  ];
  const hasLevel = (level: string): LogsqlFilter =>
    oneOf(levelColumns.level, writtenLevels(wordsOfLevel(level)));
  const findsNone = and(isUncut, exact(spelling, ''));
  const isEqual = or(
    and(exact(levelColumns.level, ''), findsNone),
    ...levels.map((level) => and(oneOf(value, valuesOf(level)), hasLevel(level))),
    ...spelledLevel.map(({ level }, index) => and(isUncut, exact(spelling, String(index)), hasLevel(level))),
  );
  const representativeOf = (get: Get): RepresentativeLine =>
    representingLevel(levelOfValue(get(value) ?? '') ?? spelledLevel[Number(get(spelling) || NaN)]?.level);
  const digest = { pipes: proven, columns: [value, spelling], representativeOf };
  return {
    uncertainLines: {
      key: `levels ${JSON.stringify([forms, spelledLevel.map(({ filter }) => printFilter(filter))])}`,
      pipes: [...pipes, ...proven],
      filter: not(and(exact(levelColumns.line, ''), isEqual)),
      withLevel: not(findsNone),
      countedLevel: (get) => representedLevel(representativeOf(get)),
    },
    digest,
    without: (rows) => ({ ...digest, pipes: [formatInto(value, levelless, rows), ...proven] }),
  };
}
