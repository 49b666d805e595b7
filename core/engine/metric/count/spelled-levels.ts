/**
 * Levels by the words that lines hold, where a look at all lines has proved that these words tell. A stream's lines may differ too much to
 * be counted by shape, but programs spell their levels in few ways.
 */
import { Pacer } from '../../../base/pace/pacer.js';
import type { Memory } from '../../../base/memory/byte-lru.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { Assumptions } from '../../assumptions.js';
import type { LogsqlFilter, LogsqlPipe, StreamMatcher } from '../../../victoria/logsql/ast.js';
import {
  and,
  exact,
  field,
  fields,
  matcher,
  not,
  or,
  phrase,
  query,
  substring,
} from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { levelFromLine } from '../../../victoria/names/level-line.js';
import { commonForms } from '../../../victoria/names/level-shape.js';
import { normalLevel } from '../../../victoria/names/level-words.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { columnOf, type BackendRow, type Upstream } from '../../../victoria/upstream/types.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { callRows, planWindows, rowsOfStreams } from '../row-windows.js';
import { cutOut, noLevel, shaperOf, type LevelShaper, type LineQuestion, type LineShaper } from './shapes.js';
import { mostPerSlice, type LineSamples } from './line-samples.js';
import { judge, KindsOfStream, type Judgement, type SoughtWord, type StreamKinds } from './spelled-kinds.js';
import { Stretches, type Found, type Proofs, type Run } from './stretches.js';
import type { StreamListing, Tallies } from './stream-listing.js';
import { wholeStretches } from './time-stretches.js';

/** Findings of a time segment, by `_stream` text. */
export interface SpelledStretch extends Found {
  readonly streams: ReadonlyMap<string, StreamKinds>;
}

const maxFilterBytes = 4000;
const maxForms = 3;
/** Bytes of a row that is looked at beside those of its stream and line. */
const bytesAround = 70;

export interface SpelledRequest {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly naming: Naming;
  /** All rows of the streams that are listed. */
  readonly selection: LogsqlFilter;
  /** Rows whose lines are inspected. */
  readonly lines: LogsqlFilter;
  /** Rows of which a sample is read. */
  readonly sampled: LogsqlFilter;
  readonly samples: Pick<LineSamples, 'of'>;
  readonly listing: StreamListing;
  /** The streams that may have such lines. */
  readonly streams: readonly string[];
  readonly range: TimeRange;
  readonly shaper: LevelShaper;
  /** The most rows that may be read; 0 means unlimited. */
  readonly maxRows: number;
  readonly signal: AbortSignal;
  /** The assumptions that levels of lines that were never checked may rest on. */
  readonly assumptions?: Assumptions | undefined;
  /** Told how many lines were sent for a look, and about how many bytes. */
  readonly looked?: ((lines: number, bytes: number) => void) | undefined;
}

/** Digest that finds levels by words, and the streams that it is used for. */
export interface SpelledLevels {
  readonly shaper: LineShaper;
  /** Matches the rows of the streams whose levels are classified. */
  readonly told: LogsqlFilter;
  /** Matches those of the others; undefined when there are none. */
  readonly untold: LogsqlFilter | undefined;
  /** Matches the classified rows of streams that have lines whose words mean several levels. */
  readonly ambiguous: LogsqlFilter;
}

/** By which forms to cut levels out of lines that differ too much to be counted by shape. */
export const formsQuestion: LineQuestion<LevelShaper> = {
  key: 'forms',
  *judge(lines) {
    return shaperOf(yield* commonForms(lines, maxForms), []);
  },
};

/** Remembers which streams spell their levels so that words tell them. */
export class SpelledLevelFinder {
  readonly #stretches: Stretches<SpelledStretch>;
  readonly #tallies: Tallies;

  constructor(memory: Memory<SpelledStretch>, proofs: Proofs) {
    this.#stretches = new Stretches(memory, bytesOfSpelled, proofs);
    this.#tallies = proofs.tallies;
  }

  async of(request: SpelledRequest): Promise<SpelledLevels | Declined> {
    const { upstream, selection, lines, listing, range, shaper, streams, maxRows, assumptions } = request;
    const key = JSON.stringify([upstream.owner, printFilter(lines), shaper.forms]);
    // The listing may be that of an earlier query, with the same streams and fewer rows.
    const looked = wholeStretches(range);
    const listed = await upstream.list({ listing: 'streams', query: query(selection), range: looked });
    const rows = rowsOfStreams(listed);
    const isSampled = assumptions?.allows(rows, range) === true;
    if (maxRows > 0 && rows > maxRows && !isSampled) return decline('lines-differ');
    const { found, isIncomplete } = await this.#stretches.of(
      { ...request, key },
      { range: looked, listed },
      {
        look: (run) => look(request, run, this.#tallies),
        ...(assumptions && { skips: (rows) => assumptions.allows(rows, range) }),
      },
    );
    const stretches = found.map((stretch) => stretch.streams);
    if (isIncomplete) {
      assumptions?.make('sampled-lines', key);
      stretches.push(await lookAtSample(request));
    }
    const judgement = judge(stretches, streams);
    const { untold, ambiguous } = judgement;
    if (untold.size === streams.length) return decline('lines-differ');
    const filters = splitBy(untold, streams, listing);
    if (isDeclined(filters)) return filters;
    const narrowed = splitBy(ambiguous, streams, listing);
    return {
      ...filters,
      ambiguous: and(filters.told, isDeclined(narrowed) ? and() : (narrowed.untold ?? and())),
      shaper: spelledShaper(shaper, judgement),
    };
  }
}

export function bytesOfSpelled({ streams }: SpelledStretch): number {
  let bytes = 200;
  for (const [text, { kinds = [], around }] of streams) {
    bytes += 2 * text.length + 120;
    for (const each of around.values()) bytes += 80 + 40 * each.size;
    for (const { value } of kinds) bytes += 80 + 2 * value.length;
  }
  return bytes;
}

/** Reads all lines of stretches once: how each has its level, and what the backend cuts out of it. */
async function look(request: SpelledRequest, run: Run, tallies: Tallies): Promise<readonly SpelledStretch[]> {
  const { upstream, reader, selection } = request;
  const { range } = run;
  const lines = and(request.lines, run.within);
  // First: rows that come in between make it another number, so that the stretch is looked at again.
  const listings: bigint[] = [];
  let rows = 0;
  for (const stretch of run.stretches) {
    const listed = await upstream.list({ listing: 'streams', query: query(selection), range: stretch });
    listings.push(await tallies.ofListing(reader, listed));
    rows += rowsOfStreams(listed);
  }
  const found = run.stretches.map(() => new Map<string, KindsOfStream>());
  const windows = rows <= callRows ? [{ range }] : await planWindows(upstream, lines, range, callRows);
  for (const window of windows) await readKinds(request, lines, window.range, (row) => run.of(found, row));
  return found.map((streams, index) => ({
    tally: listings[index] ?? 0n,
    streams: kindsOf(streams),
  }));
}

/** The same of a sample of the lines, which stands for all of them. */
async function lookAtSample(request: SpelledRequest): Promise<ReadonlyMap<string, StreamKinds>> {
  const { samples, sampled, listing, shaper, signal } = request;
  const rows = rowsOfStreams(listing.listed);
  const lines = await samples.of({ ...request, selection: sampled, rows }, mostPerSlice);
  const found = new Map<string, KindsOfStream>();
  const pacer = new Pacer(signal);
  for (const { stream, line } of lines) {
    kindsIn(found, stream).add(line, cutOut(line, shaper), levelFromLine);
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return kindsOf(found);
}

function kindsIn(streams: Map<string, KindsOfStream>, text: string): KindsOfStream {
  const known = streams.get(text) ?? new KindsOfStream();
  streams.set(text, known);
  return known;
}

/** Reads lines, and adds them to those of their stream in the map that `of` gives for a row. */
async function readKinds(
  { upstream, shaper, signal, looked }: SpelledRequest,
  lines: LogsqlFilter,
  range: TimeRange,
  of: (row: BackendRow) => Map<string, KindsOfStream>,
): Promise<void> {
  const pipes = [...shaper.extracting, fields('_time', '_stream', '_msg', shaper.value)];
  const pacer = new Pacer(signal);
  for await (const batch of upstream.rows({ query: query(lines, pipes), range })) {
    let bytes = 0;
    for (const row of batch) {
      const text = row._stream ?? '{}';
      bytes += bytesAround + text.length + (row._msg?.length ?? 0);
      const known = kindsIn(of(row), text);
      known.add(row._msg ?? '', columnOf(row, shaper.value) ?? '', levelFromLine);
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
    looked?.(batch.length, bytes);
  }
}

function kindsOf(streams: ReadonlyMap<string, KindsOfStream>): ReadonlyMap<string, StreamKinds> {
  return new Map([...streams].map(([text, { kinds, used, around }]) => [text, { kinds, used, around }]));
}

// A client field is unlikely to have this name, and would only be overwritten during counting.
const spelledColumn = '__spelled_levels';

/** Writes a digit for each level that a line without a level of a known form spells. */
function spelledShaper(shaper: LevelShaper, { levels, meanings }: Judgement): LineShaper {
  const unmatched = exact(shaper.value, '');
  const pipes = levels.map(({ words }, index): LogsqlPipe => {
    const condition = and(unmatched, or(...words.map(holds)));
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
      const level = normalLevel(value) ?? meanings.get(value, get(spelledColumn) ?? '');
      return level === undefined ? undefined : { line: level === '' ? noLevel : level };
    },
  };
}

/** Matches lines that hold a word. The backend finds words faster than the characters around them. */
function holds({ word, around }: SoughtWord): LogsqlFilter {
  if (around === undefined) return phrase('_msg', word);
  const places = around.map((each) =>
    each.startsWith('^')
      ? field('_msg', { kind: 'exact-prefix', text: `${word}${each.slice(1)}` })
      : substring('_msg', `${each.slice(0, 1)}${word}${each.slice(1)}`),
  );
  return and(phrase('_msg', word), or(...places));
}

/** Filters that distinguish streams: of the fewer ones all labels are named, also those they do not have. */
function splitBy(
  untold: ReadonlySet<string>,
  streams: readonly string[],
  { streams: identities }: StreamListing,
): Pick<SpelledLevels, 'told' | 'untold'> | Declined {
  if (untold.size === 0) return { told: and(), untold: undefined };
  // A selector without any group would match all rows.
  if (untold.size === streams.length) return { told: not(and()), untold: and() };
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
