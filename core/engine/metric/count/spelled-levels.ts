/**
 * Levels by the words that lines hold, where looking at each shape of all lines has proved that these words tell. A stream's lines may differ
 * too much to be counted by shape, but programs spell their levels in few ways.
 */
import type { Memory } from '../../../base/memory/byte-lru.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe, StreamMatcher } from '../../../victoria/logsql/ast.js';
import {
  and,
  exact,
  limit,
  matcher,
  not,
  or,
  query,
  stats,
  statsFunction,
  substring,
} from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { spelledLevelWord, normalLevel } from '../../../victoria/names/level-words.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { columnOf, type Upstream } from '../../../victoria/upstream/types.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import {
  commonForms,
  noLevel,
  shaperOf,
  type LevelShaper,
  type LineQuestion,
  type LineShaper,
} from './shapes.js';
import { Stretches, tallyOfListing, type Found } from './stretches.js';
import type { StreamListing } from './stream-listing.js';

const stems = ['trace', 'debug', 'info', 'warn', 'error', 'err', 'critical', 'fatal'];
/** As programs spell them. `warning` holds `warn`. */
const spellings = stems
  .flatMap((stem) => [stem, `${stem.slice(0, 1).toUpperCase()}${stem.slice(1)}`, stem.toUpperCase()])
  .map((word, index) => ({ word, level: normalLevel(word) ?? '', bit: 1 << index }));

/** The bits of spellings. */
type Words = number;

function spellingsOf(words: Words): typeof spellings {
  return spellings.filter(({ bit }) => (words & bit) !== 0);
}

/** Lines of a stream that hold the same spellings and have the same level; empty for none. */
interface Kind {
  readonly words: Words;
  readonly level: string;
}

/** What is known of the lines of a stream. */
interface StreamWords {
  /** Undefined when a line has its level in another way. */
  readonly kinds: readonly Kind[] | undefined;
  /** The spellings by which lines have their level. */
  readonly used: Words;
}

/** What was found in a stretch of time, by `_stream` text. */
export interface SpelledStretch extends Found {
  readonly streams: ReadonlyMap<string, StreamWords>;
}

/** The most shapes of a stretch that are looked at. */
const maxShapes = 40_000;
/** The most kinds of lines of one stream. */
const maxKinds = 64;
const maxFilterBytes = 4000;

export interface SpelledRequest {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  /** All rows of the streams that are listed. */
  readonly selection: LogsqlFilter;
  /** Those of them whose lines are looked at. */
  readonly lines: LogsqlFilter;
  readonly listing: StreamListing;
  /** The streams that may have such lines. */
  readonly streams: readonly string[];
  readonly range: TimeRange;
  readonly shaper: LevelShaper;
}

/** How to tell levels by words, and of which streams. */
export interface SpelledLevels {
  readonly shaper: LineShaper;
  /** Matches the rows of the streams whose levels are told. */
  readonly told: LogsqlFilter;
  /** Matches those of the others; undefined when there are none. */
  readonly untold: LogsqlFilter | undefined;
}

/** By which forms to cut levels out of lines that differ too much to be counted by shape. */
export const formsQuestion: LineQuestion<LevelShaper> = {
  key: 'forms',
  *judge(lines) {
    return shaperOf(yield* commonForms(lines));
  },
};

/** Remembers which streams spell their levels so that words tell them. */
export class SpelledLevelFinder {
  readonly #stretches: Stretches<SpelledStretch>;

  constructor(memory: Memory<SpelledStretch>) {
    this.#stretches = new Stretches(memory, bytesOf);
  }

  async of(request: SpelledRequest): Promise<SpelledLevels | Declined> {
    const { upstream, selection, lines, listing, range, shaper, streams } = request;
    const key = JSON.stringify([upstream.owner, printFilter(lines), shaper.forms]);
    // The listing may be that of an earlier query, with the same streams and fewer rows.
    const listed = await upstream.list({ listing: 'streams', query: query(selection), range });
    const found = await this.#stretches.of({ ...request, key }, range, listed, (stretch) =>
      look(request, stretch),
    );
    const { used, untold } = judge(found, streams);
    if (untold.size === streams.length) return decline('lines-differ');
    const filters = splitBy(untold, streams, listing);
    if (isDeclined(filters)) return filters;
    return { ...filters, shaper: spelledShaper(shaper, used) };
  }
}

function bytesOf({ streams }: SpelledStretch): number {
  let bytes = 200;
  for (const [text, { kinds = [] }] of streams) bytes += 2 * text.length + 120 + 60 * kinds.length;
  return bytes;
}

async function look(request: SpelledRequest, range: TimeRange): Promise<SpelledStretch> {
  const { upstream, reader, selection, lines, shaper } = request;
  // First: rows that come in between make it another number, so that the stretch is looked at again.
  const listed = await upstream.list({ listing: 'streams', query: query(selection), range });
  const tally = await tallyOfListing(reader, listed);
  const counting = stats(['_stream', ...shaper.columns], statsFunction('count', [], 'rows'));
  const pipes = [...shaper.pipes, counting, limit(maxShapes + 1)];
  const streams = new Map<string, KindsOfStream>();
  let shapes = 0;
  for await (const batch of upstream.rows({ query: query(lines, pipes), range })) {
    for (const row of batch) {
      shapes += 1;
      const text = row._stream ?? '{}';
      let known = streams.get(text);
      if (known === undefined) streams.set(text, (known = new KindsOfStream()));
      known.add(shaper.partsOf((name) => columnOf(row, name)));
    }
  }
  // Of a part of the shapes nothing is known.
  const isWhole = shapes <= maxShapes;
  const seen = isWhole ? [...streams] : listed.map(({ value }) => [value, otherwise] as const);
  return { tally, streams: new Map(seen.map(([text, { kinds, used }]) => [text, { kinds, used }])) };
}

const otherwise: StreamWords = { kinds: undefined, used: 0 };

/** Gathers what the shapes of one stream's lines tell. */
class KindsOfStream implements StreamWords {
  readonly #kinds = new Map<string, Kind>();
  #isTold = true;
  used: Words = 0;

  get kinds(): readonly Kind[] | undefined {
    return this.#isTold && this.#kinds.size <= maxKinds ? [...this.#kinds.values()] : undefined;
  }

  add({
    text,
    value,
    level,
  }: {
    readonly text: string;
    readonly value: string;
    readonly level?: string;
  }): void {
    if (!this.#isTold || this.#kinds.size > maxKinds) return;
    if (level === undefined) {
      this.#isTold = false;
      return;
    }
    if (value !== '') {
      // The backend cuts it out, and nothing else of the line may matter.
      this.#isTold = normalLevel(value) === level;
      return;
    }
    const words = wordsIn(text);
    const spelled = spelledLevelWord(text);
    if (level !== '' && spelled !== undefined) this.used |= wordOf(spelled, level);
    const key = `${words} ${level}`;
    if (!this.#kinds.has(key)) this.#kinds.set(key, { words, level });
  }
}

function wordsIn(text: string): Words {
  let words = 0;
  for (const { word, bit } of spellings) if (text.includes(word)) words |= bit;
  return words;
}

/** The first spelling that a level word holds, if it means the level. */
function wordOf(text: string, level: string): Words {
  const spelling = spellings.find(({ word }) => text.includes(word));
  return spelling?.level === level ? spelling.bit : 0;
}

/** The spellings that tell levels, and the streams of which they do not. */
function judge(
  found: readonly SpelledStretch[],
  streams: readonly string[],
): { readonly used: Words; readonly untold: ReadonlySet<string> } {
  const untold = new Set<string>();
  for (const stretch of found)
    for (const [text, { kinds }] of stretch.streams) if (kinds === undefined) untold.add(text);
  let used = 0;
  for (const stretch of found)
    for (const [text, words] of stretch.streams) if (!untold.has(text)) used |= words.used;
  for (const stretch of found)
    for (const [text, { kinds = [] }] of stretch.streams)
      if (kinds.some((kind) => !isTold(kind, used))) untold.add(text);
  // A stream without such lines in any stretch is told.
  return { used, untold: new Set(streams.filter((text) => untold.has(text))) };
}

/** Whether lines of a kind get their level by these spellings, or are known to need another look. */
function isTold({ words, level }: Kind, used: Words): boolean {
  const levels = levelsOf(words & used);
  return (
    levels.size > 1 || ([...levels].every((one) => one === level) && (levels.size === 1 || level === ''))
  );
}

function levelsOf(words: Words): ReadonlySet<string> {
  return new Set(spellingsOf(words).map(({ level }) => level));
}

// A client field is unlikely to have this name, and would only be overwritten during counting.
const spelledColumn = '__spelled_levels';

/** Writes a letter for each level that a line without a level of a known form spells. */
function spelledShaper(shaper: LevelShaper, used: Words): LineShaper {
  const levels = [...levelsOf(used)];
  const unmatched = exact(shaper.value, '');
  const pipes = levels.map((level, index): LogsqlPipe => {
    const words = spellingsOf(used).filter((spelling) => spelling.level === level);
    const condition = and(unmatched, or(...words.map(({ word }) => substring('_msg', word))));
    return {
      ...{ kind: 'format', pattern: `<${spelledColumn}>${index}`, as: spelledColumn, rule: 'overwrite' },
      condition,
    };
  });
  return {
    pipes: [...shaper.extracting, ...pipes],
    columns: [shaper.value, spelledColumn],
    representativeOf(get) {
      const value = get(shaper.value) ?? '';
      if (value !== '') {
        const level = normalLevel(value);
        return level === undefined ? undefined : { line: level };
      }
      const spelled = get(spelledColumn) ?? '';
      if (spelled === '') return { line: noLevel };
      const level = spelled.length === 1 ? levels[Number(spelled)] : undefined;
      return level === undefined ? undefined : { line: level };
    },
  };
}

/** Filters that tell streams apart: of the fewer ones all labels are named, also those they do not have. */
function splitBy(
  untold: ReadonlySet<string>,
  streams: readonly string[],
  { streams: identities }: StreamListing,
): Pick<SpelledLevels, 'told' | 'untold'> | Declined {
  if (untold.size === 0) return { told: and(), untold: undefined };
  const isFewUntold = 2 * untold.size <= streams.length;
  const named = isFewUntold ? [...untold] : streams.filter((text) => !untold.has(text));
  const names = new Set([...identities.values()].flatMap(({ fields }) => [...fields.keys()]));
  const groups = named.map((text): readonly StreamMatcher[] => {
    const fields: StreamIdentity['fields'] = identities.get(text)?.fields ?? new Map();
    return [...names].map((name) => matcher(name, '=', fields.get(name) ?? ''));
  });
  const filter: LogsqlFilter = { kind: 'stream', groups };
  if (Buffer.byteLength(printFilter(filter)) > maxFilterBytes) return decline('lines-differ');
  return isFewUntold ? { told: not(filter), untold: filter } : { told: filter, untold: not(filter) };
}
