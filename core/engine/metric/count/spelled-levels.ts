/**
 * Levels by the words in lines, once an inspection of all lines has proved that the words determine the level. The lines of a stream may
 * differ too much to be counted by class, but programs spell their levels in few ways.
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
import { levelFromLine } from '../../../victoria/names/level.js';
import { commonForms } from '../../../victoria/names/level-shape.js';
import { normalLevel } from '../../../victoria/names/level-words.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { columnOf, type BackendRow, type Upstream } from '../../../victoria/upstream/types.js';
import { decline, isDeclined, type Declined } from '../declined.js';
import { callRows, planWindows, rowsOfStreams } from '../row-windows.js';
import { cutOut, levelDigestOf, representingLevel, type LevelDigest } from './level-digests.js';
import type { LineQuestion, LineDigest } from './line-digests.js';
import { mostPerSlice, type LineSamples } from './line-samples.js';
import {
  classifyLevels,
  StreamLevelCollector,
  type LevelClassification,
  type SoughtWord,
  type StreamLevelStats,
} from './level-classes.js';
import { SegmentFindings, type SegmentFinding, type Proofs, type SegmentRun } from './segment-findings.js';
import type { StreamListing, StreamChecksums } from './stream-listing.js';
import { wholeSegments } from './time-segments.js';

/** Level statistics of a time segment, by `_stream` text. */
export interface SegmentLevels extends SegmentFinding {
  readonly streams: ReadonlyMap<string, StreamLevelStats>;
}

const maxFilterBytes = 4000;
const maxForms = 3;
/** Bytes of an inspected row besides its stream and line. */
const bytesAround = 70;

export interface SpelledRequest {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly naming: Naming;
  /** Matches all rows of the listed streams. */
  readonly selection: LogsqlFilter;
  /** Matches rows whose lines are inspected. */
  readonly lines: LogsqlFilter;
  /** Matches rows that the sample is taken from. */
  readonly sampled: LogsqlFilter;
  readonly samples: Pick<LineSamples, 'of'>;
  readonly listing: StreamListing;
  /** The streams that may have uncertain lines. */
  readonly streams: readonly string[];
  readonly range: TimeRange;
  readonly digest: LevelDigest;
  /** Maximum number of rows to read; 0 means unlimited. */
  readonly maxRows: number;
  readonly signal: AbortSignal;
  /** The assumptions that the levels of unchecked lines may rely on. */
  readonly assumptions?: Assumptions | undefined;
  /** Called with the number of lines received for an inspection, and their approximate bytes. */
  readonly onSample?: ((lines: number, bytes: number) => void) | undefined;
}

/** A digest that finds levels by words, and the streams that it applies to. */
export interface SpelledLevels {
  readonly digest: LineDigest;
  /** Matches the rows of streams whose levels are classified. */
  readonly classifiable: LogsqlFilter;
  /** Matches the rows of all other streams; undefined if there are none. */
  readonly unclassifiable: LogsqlFilter | undefined;
  /** Matches the classified rows of streams in which the same words can mean different levels. */
  readonly ambiguous: LogsqlFilter;
}

/** Finds the forms by which to cut levels out of lines that differ too much to be counted by class. */
export const formsQuestion: LineQuestion<LevelDigest> = {
  key: 'forms',
  *digestFor(lines) {
    return levelDigestOf({ forms: yield* commonForms(lines, maxForms), skipsWordless: false }, []);
  },
};

/** Remembers the streams whose words determine the level. */
export class SpelledLevelFinder {
  readonly #findings: SegmentFindings<SegmentLevels>;
  readonly #checksums: StreamChecksums;

  constructor(memory: Memory<SegmentLevels>, proofs: Proofs) {
    this.#findings = new SegmentFindings(memory, bytesOfSpelled, proofs);
    this.#checksums = proofs.checksums;
  }

  async of(request: SpelledRequest): Promise<SpelledLevels | Declined> {
    const { upstream, selection, lines, listing, range, digest, streams, maxRows, assumptions } = request;
    const key = JSON.stringify([upstream.owner, printFilter(lines), digest.forms]);
    // The listing may be from an earlier query, with the same streams and fewer rows.
    const whole = wholeSegments(range);
    const listed = await upstream.list({ listing: 'streams', query: query(selection), range: whole });
    const rows = rowsOfStreams(listed);
    const isSampled = assumptions?.allows(rows, range) === true;
    if (maxRows > 0 && rows > maxRows && !isSampled) return decline('lines-differ');
    const { found, isIncomplete } = await this.#findings.of(
      { ...request, key },
      { range: whole, listed },
      {
        inspect: (run) => inspect(request, run, this.#checksums),
        ...(assumptions && { skips: (rows) => assumptions.allows(rows, range) }),
      },
    );
    const segments = found.map((segment) => segment.streams);
    if (isIncomplete) {
      assumptions?.make('sampled-lines', key);
      segments.push(await inspectSample(request));
    }
    const classification = classifyLevels(segments, streams);
    const { unclassifiable, ambiguous } = classification;
    if (unclassifiable.size === streams.length) return decline('lines-differ');
    const filters = splitBy(unclassifiable, streams, listing);
    if (isDeclined(filters)) return filters;
    const narrowed = splitBy(ambiguous, streams, listing);
    return {
      ...filters,
      ambiguous: and(filters.classifiable, isDeclined(narrowed) ? and() : (narrowed.unclassifiable ?? and())),
      digest: spelledDigest(digest, classification),
    };
  }
}

export function bytesOfSpelled({ streams }: SegmentLevels): number {
  let bytes = 200;
  for (const [text, { kinds = [], around }] of streams) {
    bytes += 2 * text.length + 120;
    for (const each of around.values()) bytes += 80 + 40 * each.size;
    for (const { value } of kinds) bytes += 80 + 2 * value.length;
  }
  return bytes;
}

/** Reads all lines of segments once, to learn how each expresses its level and what the backend cuts out of it. */
async function inspect(
  request: SpelledRequest,
  run: SegmentRun,
  checksums: StreamChecksums,
): Promise<readonly SegmentLevels[]> {
  const { upstream, reader, selection } = request;
  const { range } = run;
  const lines = and(request.lines, run.within);
  // Listed first: rows that arrive in between change the number, so the segment is inspected again.
  const listings: bigint[] = [];
  let rows = 0;
  for (const segment of run.segments) {
    const listed = await upstream.list({ listing: 'streams', query: query(selection), range: segment });
    listings.push(await checksums.ofListing(reader, listed));
    rows += rowsOfStreams(listed);
  }
  const found = run.segments.map(() => new Map<string, StreamLevelCollector>());
  const windows = rows <= callRows ? [{ range }] : await planWindows(upstream, lines, range, callRows);
  for (const window of windows) await collectLines(request, lines, window.range, (row) => run.of(found, row));
  return found.map((streams, index) => ({
    checksum: listings[index] ?? 0n,
    streams: statsOf(streams),
  }));
}

/** As `inspect`, for a sample that represents all lines. */
async function inspectSample(request: SpelledRequest): Promise<ReadonlyMap<string, StreamLevelStats>> {
  const { samples, sampled, listing, digest, signal } = request;
  const rows = rowsOfStreams(listing.listed);
  const lines = await samples.of({ ...request, selection: sampled, rows }, mostPerSlice);
  const found = new Map<string, StreamLevelCollector>();
  const pacer = new Pacer(signal);
  for (const { stream, line } of lines) {
    collectorOf(found, stream).add(line, cutOut(line, digest), levelFromLine);
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return statsOf(found);
}

function collectorOf(streams: Map<string, StreamLevelCollector>, text: string): StreamLevelCollector {
  const known = streams.get(text) ?? new StreamLevelCollector();
  streams.set(text, known);
  return known;
}

/** Reads lines and adds each to the collector that `of` returns for its row. */
async function collectLines(
  { upstream, digest, signal, onSample }: SpelledRequest,
  lines: LogsqlFilter,
  range: TimeRange,
  of: (row: BackendRow) => Map<string, StreamLevelCollector>,
): Promise<void> {
  const pipes = [...digest.extracting, fields('_time', '_stream', '_msg', digest.value)];
  const pacer = new Pacer(signal);
  for await (const batch of upstream.rows({ query: query(lines, pipes), range })) {
    let bytes = 0;
    for (const row of batch) {
      const text = row._stream ?? '{}';
      bytes += bytesAround + text.length + (row._msg?.length ?? 0);
      const known = collectorOf(of(row), text);
      known.add(row._msg ?? '', columnOf(row, digest.value) ?? '', levelFromLine);
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
    onSample?.(batch.length, bytes);
  }
}

function statsOf(streams: ReadonlyMap<string, StreamLevelCollector>): ReadonlyMap<string, StreamLevelStats> {
  return new Map([...streams].map(([text, { kinds, used, around }]) => [text, { kinds, used, around }]));
}

// Unlikely as the name of a client's field, which would only be overwritten during counting.
const spelledColumn = '__spelled_levels';

/** Writes a digit for each level that is spelled in a line without a level of a known form. */
function spelledDigest(digest: LevelDigest, { levels, meanings }: LevelClassification): LineDigest {
  const unmatched = exact(digest.value, '');
  const pipes = levels.map(({ words }, index): LogsqlPipe => {
    const condition = and(unmatched, or(...words.map(holds)));
    return {
      ...{ kind: 'format', pattern: `<${spelledColumn}>${index}`, as: spelledColumn, rule: 'overwrite' },
      condition,
    };
  });
  return {
    pipes: [...digest.extracting, ...pipes],
    columns: [digest.value, spelledColumn],
    representativeOf(get) {
      const value = get(digest.value) ?? '';
      const level = normalLevel(value) ?? meanings.get(value, get(spelledColumn) ?? '');
      return representingLevel(level);
    },
  };
}

/** Matches lines with a word. The backend finds words faster than the characters around them. */
function holds({ word, around }: SoughtWord): LogsqlFilter {
  if (around === undefined) return phrase('_msg', word);
  const alternatives = around.map((each) =>
    each.startsWith('^')
      ? field('_msg', { kind: 'exact-prefix', text: `${word}${each.slice(1)}` })
      : substring('_msg', `${each.slice(0, 1)}${word}${each.slice(1)}`),
  );
  return and(phrase('_msg', word), or(...alternatives));
}

/** Filters that separate two sets of streams. For the smaller set, all labels are named, including those that a stream does not have. */
function splitBy(
  unclassifiable: ReadonlySet<string>,
  streams: readonly string[],
  { streams: identities }: StreamListing,
): Pick<SpelledLevels, 'classifiable' | 'unclassifiable'> | Declined {
  if (unclassifiable.size === 0) return { classifiable: and(), unclassifiable: undefined };
  // A selector without groups would match all rows.
  if (unclassifiable.size === streams.length) return { classifiable: not(and()), unclassifiable: and() };
  const areFewUnclassifiable = 2 * unclassifiable.size <= streams.length;
  const named = areFewUnclassifiable
    ? [...unclassifiable]
    : streams.filter((text) => !unclassifiable.has(text));
  const names = new Set([...identities.values()].flatMap(({ fields }) => [...fields.keys()]));
  const groups = named.map((text): readonly StreamMatcher[] => {
    const fields: StreamIdentity['fields'] = identities.get(text)?.fields ?? new Map();
    return [...names].map((name) => matcher(name, '=', fields.get(name) ?? ''));
  });
  const filter: LogsqlFilter = { kind: 'stream', groups };
  if (Buffer.byteLength(printFilter(filter)) > maxFilterBytes) return decline('lines-differ');
  return areFewUnclassifiable
    ? { classifiable: not(filter), unclassifiable: filter }
    : { classifiable: filter, unclassifiable: not(filter) };
}
