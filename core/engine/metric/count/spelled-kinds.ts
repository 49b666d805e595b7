import { standsAlone } from '../../../victoria/logsql/eval/words.js';
import { normalLevel, spelledLevelWord } from '../../../victoria/names/level-words.js';

const stems = ['trace', 'debug', 'info', 'warning', 'warn', 'error', 'err', 'critical', 'fatal'];
/** As programs spell them. */
const spellings = stems
  .flatMap((stem) => [stem, `${stem.slice(0, 1).toUpperCase()}${stem.slice(1)}`, stem.toUpperCase()])
  .map((word, index) => ({ word, level: normalLevel(word) ?? '', bit: 1 << index }));
const bitOf: ReadonlyMap<string, number> = new Map(spellings.map(({ word, bit }) => [word, bit]));
/** All names of levels that words spell, in a fixed order. */
const allLevels = [...new Set(spellings.map(({ level }) => level))];
const anySpelling = new RegExp(stems.join('|'), 'gi');

/** The bits of spellings. */
type Words = number;

/** Lines of a stream that have the same level; empty for none. */
export interface Kind {
  /** What the backend cuts out in place of a level and is none; empty where it cuts out nothing. */
  readonly value: string;
  /** The spellings that such lines hold, if nothing is cut out. */
  readonly words: Words;
  readonly level: string;
}

/** What is known of the lines of a stream. */
export interface StreamKinds {
  /** Undefined when a line has its level in another way. */
  readonly kinds: readonly Kind[] | undefined;
  /** The spellings by which lines have their level. */
  readonly used: Words;
}

/** The most kinds of lines of one stream. */
const maxKinds = 64;
/** The longest value that is remembered. */
const maxValue = 100;

/** Gathers how the lines of one stream have their levels. */
export class KindsOfStream implements StreamKinds {
  readonly #kinds = new Map<string, Kind>();
  #isTold = true;
  used: Words = 0;

  get kinds(): readonly Kind[] | undefined {
    return this.#isTold ? [...this.#kinds.values()] : undefined;
  }

  /** @param value what the backend cuts out of the line in place of a level */
  add(line: string, value: string, levelOf: (line: string) => string | undefined): void {
    if (!this.#isTold) return;
    const level = levelOf(line) ?? '';
    const cutOut = normalLevel(value);
    if (cutOut !== undefined) {
      this.#isTold = cutOut === level;
      return;
    }
    let words = 0;
    if (value === '') {
      words = wordsIn(line);
      const spelled = level === '' ? undefined : spelledLevelWord(line);
      if (spelled !== undefined && normalLevel(spelled) === level) this.used |= bitOf.get(spelled) ?? 0;
    }
    const key = `${words} ${level} ${value}`;
    if (this.#kinds.has(key)) return;
    this.#isTold = this.#kinds.size < maxKinds && value.length <= maxValue;
    this.#kinds.set(key, { value, words, level });
  }
}

/** The spellings that stand in a text between word boundaries. */
function wordsIn(text: string): Words {
  let words = 0;
  anySpelling.lastIndex = 0;
  for (let found = anySpelling.exec(text); found !== null; found = anySpelling.exec(text)) {
    const bit = bitOf.get(found[0]);
    if (bit !== undefined && standsAlone(text, found.index, found.index + found[0].length)) words |= bit;
  }
  return words;
}

/** How lines are told apart, and what that means. */
export interface Judgement {
  /** The levels that are looked for, each by any of these words. */
  readonly levels: readonly { readonly level: string; readonly words: readonly string[] }[];
  readonly meanings: Meanings;
  /** The streams of which words do not tell levels. */
  readonly untold: ReadonlySet<string>;
  /** The others that have lines of which `meanings` has no level. */
  readonly ambiguous: ReadonlySet<string>;
}

/** The level of lines by what was cut out of them, or by the digits of the levels that they spell; empty for none. */
export interface Meanings {
  get(value: string, spelled: string): string | undefined;
}

/** Judges by what was found in all stretches of time. */
export function judge(
  stretches: readonly ReadonlyMap<string, StreamKinds>[],
  streams: readonly string[],
): Judgement {
  const found = stretches.flatMap((stretch) => [...stretch]);
  const untold = new Set(found.filter(([, { kinds }]) => kinds === undefined).map(([text]) => text));
  const used = found.reduce((all, [text, kinds]) => (untold.has(text) ? all : all | kinds.used), 0);
  const levels = allLevels.flatMap((level) => {
    const words = spellings.filter((one) => one.level === level && (one.bit & used) !== 0);
    const bits = words.reduce((all, { bit }) => all | bit, 0);
    return words.length === 0 ? [] : [{ level, bits, words: words.map(({ word }) => word) }];
  });
  const spelledBy = ({ words }: Kind): string =>
    levels.map(({ bits }, index) => ((bits & words) === 0 ? '' : String(index))).join('');
  for (const [text, { kinds = [] }] of found)
    if (kinds.some((kind) => kind.value === '' && isWrong(kind.level, spelledBy(kind), levels)))
      untold.add(text);
  const meanings = new Map<string, Set<string>>();
  const told = found.filter(([text]) => !untold.has(text));
  for (const [, { kinds = [] }] of told) {
    for (const kind of kinds) {
      const key = keyOf(kind.value, spelledBy(kind));
      meanings.set(key, (meanings.get(key) ?? new Set<string>()).add(kind.level));
    }
  }
  const meaningOf = (value: string, spelled: string): string | undefined => {
    const known = meanings.get(keyOf(value, spelled));
    return known?.size === 1 ? [...known][0] : undefined;
  };
  const ambiguous = told.filter(([, { kinds = [] }]) =>
    kinds.some((kind) => meaningOf(kind.value, spelledBy(kind)) === undefined),
  );
  return {
    levels,
    meanings: { get: meaningOf },
    untold: new Set(streams.filter((text) => untold.has(text))),
    ambiguous: new Set(ambiguous.map(([text]) => text)),
  };
}

/** Whether lines that spell one level or none have another one: too many of them would be ambiguous in all streams. */
function isWrong(level: string, spelled: string, levels: Judgement['levels']): boolean {
  return spelled.length <= 1 && level !== (spelled === '' ? '' : levels[Number(spelled)]?.level);
}

function keyOf(value: string, spelled: string): string {
  return value === '' ? `by words ${spelled}` : `by value ${value}`;
}
