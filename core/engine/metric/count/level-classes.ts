import { standsAlone } from '../../../victoria/logsql/eval/words.js';
import { aroundWord, normalLevel, spelledLevelWord } from '../../../victoria/names/level-words.js';

const stems = ['trace', 'debug', 'info', 'warning', 'warn', 'error', 'err', 'critical', 'fatal'];
/** Level words in the usual spellings of programs. */
const spellings = stems
  .flatMap((stem) => [stem, `${stem.slice(0, 1).toUpperCase()}${stem.slice(1)}`, stem.toUpperCase()])
  .map((word, index) => ({ word, level: normalLevel(word) ?? '', bit: 1 << index }));
const bitOf: ReadonlyMap<string, number> = new Map(spellings.map(({ word, bit }) => [word, bit]));
/** All level names, in a fixed order. */
const allLevels = [...new Set(spellings.map(({ level }) => level))];
const anySpelling = new RegExp(stems.join('|'), 'gi');

/** A bit set of spellings. */
type Words = number;

/** Spellings found in a line. */
interface SpelledIn {
  /** Spellings found between word boundaries. */
  readonly words: Words;
  /** Spellings found where they decide the level. */
  readonly decisive: Words;
}

/** Lines of a stream that have the same level (empty for none) and contain the same spellings, if nothing is cut out. */
export interface LineKind extends SpelledIn {
  /** The text that the backend cuts out as a level although it is none; empty if it cuts out nothing. */
  readonly value: string;
  readonly level: string;
}

/** Statistics of the lines of a stream. */
export interface StreamLevelStats {
  /** The kinds of lines; undefined if a line has its level in another way. */
  readonly kinds: readonly LineKind[] | undefined;
  /** The spellings that determine levels in this stream. */
  readonly used: Words;
  /** The characters around spellings that decide the level (`aroundWord`), by spelling; incomplete beyond `maxAround`. */
  readonly around: ReadonlyMap<Words, ReadonlySet<string>>;
}

/** Maximum number of kinds of lines of a stream. */
const maxKinds = 128;
/** Maximum number of distinct contexts of a spelling; with more, it is searched for between any word boundaries. */
const maxAround = 6;
/** Maximum length of a remembered value. */
const maxValue = 100;

/** Collects how the lines of one stream express their levels. */
export class StreamLevelCollector implements StreamLevelStats {
  readonly #kinds = new Map<string, LineKind>();
  readonly around = new Map<Words, Set<string>>();
  #isClassifiable = true;
  used: Words = 0;

  get kinds(): readonly LineKind[] | undefined {
    return this.#isClassifiable ? [...this.#kinds.values()] : undefined;
  }

  /** @param value the text that the backend cuts out of the line as a level */
  add(line: string, value: string, levelOf: (line: string) => string | undefined): void {
    if (!this.#isClassifiable) return;
    const level = levelOf(line) ?? '';
    const cutOut = normalLevel(value);
    if (cutOut !== undefined) {
      this.#isClassifiable = cutOut === level;
      return;
    }
    let spelledIn = nothing;
    if (value === '') {
      spelledIn = this.#spelledIn(line);
      const spelled = level === '' ? undefined : spelledLevelWord(line);
      if (spelled !== undefined && normalLevel(spelled) === level) this.used |= bitOf.get(spelled) ?? 0;
    }
    const key = `${spelledIn.words} ${spelledIn.decisive} ${level} ${value}`;
    if (this.#kinds.has(key)) return;
    this.#isClassifiable = this.#kinds.size < maxKinds && value.length <= maxValue;
    this.#kinds.set(key, { value, level, ...spelledIn });
  }

  #spelledIn(text: string): SpelledIn {
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
    return words === 0 ? nothing : { words, decisive };
  }

  #addAround(bit: Words, around: string): void {
    const known = this.around.get(bit);
    if (known === undefined) this.around.set(bit, new Set([around]));
    else if (known.size <= maxAround) known.add(around);
  }
}

const nothing: SpelledIn = { words: 0, decisive: 0 };

/** A spelling to search for: with this text around it, or between any word boundaries if that is undefined. */
export interface SoughtWord {
  readonly word: string;
  readonly around: readonly string[] | undefined;
}

/** A classification of lines by the levels that they spell. */
export interface LevelClassification {
  /** The levels to search for, each with its words. */
  readonly levels: readonly { readonly level: string; readonly words: readonly SoughtWord[] }[];
  readonly meanings: Meanings;
  /** The streams whose levels cannot be determined by words. */
  readonly unclassifiable: ReadonlySet<string>;
  /** The other streams that have lines whose level is missing in `meanings`. */
  readonly ambiguous: ReadonlySet<string>;
}

/** The level of lines by the text that was cut out, or by the digits of the levels that they spell; empty for none. */
export interface Meanings {
  get(value: string, spelled: string): string | undefined;
}

/** Classifies levels by the findings of all time segments. */
export function classifyLevels(
  segments: readonly ReadonlyMap<string, StreamLevelStats>[],
  streams: readonly string[],
): LevelClassification {
  const found = segments.flatMap((segment) => [...segment]);
  const unclassifiable = new Set(found.filter(([, { kinds }]) => kinds === undefined).map(([text]) => text));
  const used = found.reduce((all, [text, kinds]) => (unclassifiable.has(text) ? all : all | kinds.used), 0);
  const candidates = found.flatMap(([text, kinds]) => (unclassifiable.has(text) ? [] : [kinds]));
  const levels = allLevels.flatMap((level) => {
    const words = spellings
      .filter((one) => one.level === level && (one.bit & used) !== 0)
      .map((one) => ({ ...one, around: aroundOf(one.bit, candidates) }));
    return words.length === 0
      ? []
      : [
          {
            ...{ level, words },
            decisive: bitsOf(words.filter(({ around }) => around !== undefined)),
            anywhere: bitsOf(words.filter(({ around }) => around === undefined)),
          },
        ];
  });
  const spelledBy = (kind: LineKind): string =>
    levels
      .map(({ decisive, anywhere }, index) =>
        (decisive & kind.decisive) === 0 && (anywhere & kind.words) === 0 ? '' : String(index),
      )
      .join('');
  for (const [text, { kinds = [] }] of found)
    if (kinds.some((kind) => kind.value === '' && isWrong(kind.level, spelledBy(kind), levels)))
      unclassifiable.add(text);
  const meanings = new Map<string, Set<string>>();
  const classifiable = found.filter(([text]) => !unclassifiable.has(text));
  for (const [, { kinds = [] }] of classifiable) {
    for (const kind of kinds) {
      const key = keyOf(kind.value, spelledBy(kind));
      meanings.set(key, (meanings.get(key) ?? new Set<string>()).add(kind.level));
    }
  }
  const meaningOf = (value: string, spelled: string): string | undefined => {
    const known = meanings.get(keyOf(value, spelled));
    return known?.size === 1 ? [...known][0] : undefined;
  };
  const ambiguous = classifiable.filter(([, { kinds = [] }]) =>
    kinds.some((kind) => meaningOf(kind.value, spelledBy(kind)) === undefined),
  );
  return {
    levels,
    meanings: { get: meaningOf },
    unclassifiable: new Set(streams.filter((text) => unclassifiable.has(text))),
    ambiguous: new Set(ambiguous.map(([text]) => text)),
  };
}

function bitsOf(words: readonly { readonly bit: Words }[]): Words {
  return words.reduce((all, { bit }) => all | bit, 0);
}

/**
 * The characters around a spelling in all streams; undefined if there are too many of them, or if one is the end of a line, which no filter
 * can match.
 */
function aroundOf(bit: Words, streams: readonly StreamLevelStats[]): readonly string[] | undefined {
  const all = new Set(streams.flatMap(({ around }) => [...(around.get(bit) ?? [])]));
  return all.size > maxAround || [...all].some((each) => each.endsWith('$')) ? undefined : [...all];
}

/** True if lines that spell one level or none have another one. Such a stream is unclassifiable: its lines would be ambiguous elsewhere. */
function isWrong(level: string, spelled: string, levels: LevelClassification['levels']): boolean {
  return spelled.length <= 1 && level !== (spelled === '' ? '' : levels[Number(spelled)]?.level);
}

function keyOf(value: string, spelled: string): string {
  return value === '' ? `by words ${spelled}` : `by value ${value}`;
}
