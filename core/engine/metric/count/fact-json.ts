/** Findings of a time segment as JSON, for files and other replicas. The parsers take any value and throw for one that is not a finding. */
import type { BackendRow } from '../../../victoria/upstream/types.js';
import type { Crowded } from './found-repeats.js';
import { bytesOfProfile, type StretchProfile } from './profile.js';
import type { Kind, StreamKinds } from './spelled-kinds.js';
import { bytesOfSpelled, type SpelledStretch } from './spelled-levels.js';
import type { Found } from './stretches.js';

/** Printer and parser of one kind of finding. */
export interface FactForm<Fact extends Found> {
  /** A value for JSON.stringify. */
  print(fact: Fact): unknown;
  parse(json: unknown): Fact;
  /** The approximate size in memory. */
  bytesOf(fact: Fact): number;
}

export const profileForm: FactForm<StretchProfile> = {
  bytesOf: bytesOfProfile,
  print: ({
    tally,
    streamsWithSharedTimes,
    hidingStreams,
    repeatedAt,
    surplus,
    surplusElsewhere,
    crowded,
    ...counts
  }) => ({
    ...counts,
    tally: String(tally),
    sharing: [...streamsWithSharedTimes],
    hiding: hidingStreams === undefined ? null : [...hidingStreams],
    repeatedAt: repeatedAt?.map(String) ?? null,
    surplus: surplus ?? null,
    // Mostly the same rows.
    ...(surplusElsewhere === surplus ? {} : { surplusElsewhere: surplusElsewhere ?? null }),
    crowded: crowded.map(({ range, streams, columns }) => ({
      startNs: String(range.startNs),
      endNs: String(range.endNs),
      streams: [...streams],
      columns,
    })),
  }),
  parse: (json) => {
    const of = membersOf(json);
    const surplus = orNull(of['surplus'], rowsOf);
    return {
      tally: integerOf(of['tally']),
      streamsWithSharedTimes: new Set(textsOf(of['sharing'])),
      repeatedAt: orNull(of['repeatedAt'], (times) => listOf(times, integerOf)),
      surplus,
      surplusElsewhere: Object.hasOwn(of, 'surplusElsewhere')
        ? orNull(of['surplusElsewhere'], rowsOf)
        : surplus,
      crowded: listOf(of['crowded'], crowdedOf),
      missing: countOf(of['missing']),
      hidingStreams: orNull(of['hiding'], (texts) => new Set(textsOf(texts))),
      unreliable: countOf(of['unreliable']),
      doubtful: of['doubtful'] === undefined ? undefined : countOf(of['doubtful']),
    };
  },
};

export const spelledForm: FactForm<SpelledStretch> = {
  bytesOf: bytesOfSpelled,
  print: ({ tally, streams }) => ({
    tally: String(tally),
    streams: [...streams].map(([text, { kinds, used, around }]) => ({
      text,
      kinds: kinds?.map(({ value, level, words, telling }) => ({ value, level, words, telling })) ?? null,
      used,
      around: [...around].map(([word, texts]) => ({ word, texts: [...texts] })),
    })),
  }),
  parse: (json) => {
    const of = membersOf(json);
    return { tally: integerOf(of['tally']), streams: new Map(listOf(of['streams'], streamOf)) };
  },
};

function streamOf(json: unknown): [string, StreamKinds] {
  const of = membersOf(json);
  const around = listOf(of['around'], (each): [number, Set<string>] => {
    const { word, texts } = membersOf(each);
    return [countOf(word), new Set(textsOf(texts))];
  });
  const kinds = orNull(of['kinds'], (all) => listOf(all, kindOf));
  return [textOf(of['text']), { kinds, used: countOf(of['used']), around: new Map(around) }];
}

function kindOf(json: unknown): Kind {
  const { value, level, words, telling } = membersOf(json);
  return { value: textOf(value), level: textOf(level), words: countOf(words), telling: countOf(telling) };
}

function crowdedOf(json: unknown): Crowded {
  const { startNs, endNs, streams, columns } = membersOf(json);
  const range = { startNs: integerOf(startNs), endNs: integerOf(endNs) };
  return { range, streams: new Set(textsOf(streams)), columns: textsOf(columns) };
}

function rowsOf(json: unknown): readonly BackendRow[] {
  return listOf(json, (row) => {
    for (const value of Object.values(membersOf(row))) textOf(value);
    return row as BackendRow;
  });
}

type Members = Readonly<Partial<Record<string, unknown>>>;

function membersOf(json: unknown): Members {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error('no object');
  return json as Members;
}

function listOf<Item>(json: unknown, itemOf: (item: unknown) => Item): readonly Item[] {
  if (!Array.isArray(json)) throw new Error('no list');
  return json.map(itemOf);
}

function textsOf(json: unknown): readonly string[] {
  return listOf(json, textOf);
}

function textOf(json: unknown): string {
  if (typeof json !== 'string') throw new Error('no text');
  return json;
}

function countOf(json: unknown): number {
  if (typeof json !== 'number' || !Number.isSafeInteger(json) || json < 0) throw new Error('no count');
  return json;
}

/** Of digits, as no number holds them all. */
function integerOf(json: unknown): bigint {
  if (typeof json !== 'string' || !/^-?\d{1,20}$/.test(json)) throw new Error('no digits');
  return BigInt(json);
}

/** Null stands for undefined. */
function orNull<Value>(json: unknown, read: (json: unknown) => Value): Value | undefined {
  return json === null ? undefined : read(json);
}
