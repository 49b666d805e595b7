import { createHash, randomBytes } from 'node:crypto';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { limit, query, stats, statsFunction } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import type { Upstream } from '../../../victoria/upstream/types.js';
import type { BackendValue } from '../../../victoria/upstream/types.js';
import type { Memory } from '../../../base/memory/byte-lru.js';
import type { Steps } from '../../../base/pace/steps.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';

/** What decides how far a selection's rows can be counted instead of being read. */
export interface Facts {
  /** `_stream` texts of the streams in which rows may share a time. */
  readonly suspects: ReadonlySet<string>;
  /** Rows without a stored line. */
  readonly missing: number;
  /** Whether a row has another value in one of the columns than its stream has in the field of that name. */
  readonly isHidden: boolean;
  /** Rows that were asked for as odd. */
  readonly odd: number;
}

export interface FactsRequest {
  /** Whose data the upstream gives. */
  readonly owner: string;
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly naming: Naming;
  readonly selection: LogsqlFilter;
  /** Stream fields. */
  readonly columns: readonly string[];
  /** Rows that must not be counted by what the backend makes of them. */
  readonly odd?: LogsqlFilter | undefined;
}

/** Facts about a stretch of time. */
export interface Finding extends Facts {
  /** Of its rows by stream. */
  readonly tally: bigint;
}

const keptMs = 86_400_000;
/** What is expected of other ranges may hold there no more. */
const expectedMs = 600_000;
/** Groups of a stretch; past them columns are no stream's. */
const maxGroups = 50_000;
/** Calls at once; they stand beside the statistics themselves. */
const parallel = 4;
const minuteNs = 60_000_000_000n;
/** Long stretches that may make up a range; longer ones are tried beyond that. */
const maxStretches = 14n;
/** Lengths in minutes, each with that of the short stretches at both ends of a range. */
const lengths = [
  [5n, 5n],
  [15n, 5n],
  [60n, 5n],
  [240n, 60n],
  [1440n, 240n],
  [10_080n, 1440n],
] as const;

export const nothingFound: Facts = { suspects: new Set(), missing: 0, isHidden: false, odd: 0 };

/**
 * Finds facts out, and remembers them for whole stretches of time: they still hold when each stream has as many rows there as it
 * had then, which one listing tells.
 */
export class SelectionFacts {
  readonly #findings: Memory<Finding>;
  readonly #latest: Memory<Facts>;

  /**
   * @param findings of stretches
   * @param latest of whole selections
   */
  constructor(findings: Memory<Finding>, latest: Memory<Facts>) {
    this.#findings = findings;
    this.#latest = latest;
  }

  /** What was found for a selection the last time, whatever the range was. */
  expected(request: FactsRequest): Facts {
    return this.#latest.get(keyOf(request)) ?? nothingFound;
  }

  /** @param listed the streams of the whole range */
  async of(request: FactsRequest, range: TimeRange, listed: readonly BackendValue[]): Promise<Facts> {
    const text = keyOf(request);
    const stretches = stretchesOf(range).map((stretch) => ({
      ...stretch,
      key: `${text} ${stretch.startNs}-${stretch.endNs}`,
    }));
    const known = stretches.map(({ key }) => this.#findings.get(key));
    const isUnchanged = await areUnchanged(request, stretches, known, { range, listed });
    const suspects = new Set<string>();
    let missing = 0;
    let isHidden = false;
    let odd = 0;
    const queue = stretches.entries();
    const worker = async (): Promise<void> => {
      for (const [index, { isWhole, key, startNs, endNs }] of queue) {
        const found = (isUnchanged ? known[index] : undefined) ?? (await look(request, { startNs, endNs }));
        if (isWhole) this.#findings.set(key, found, bytesOf(found), keptMs);
        for (const stream of found.suspects) suspects.add(stream);
        missing += found.missing;
        isHidden ||= found.isHidden;
        odd += found.odd;
      }
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    const facts = { suspects, missing, isHidden, odd };
    this.#latest.set(text, facts, bytesOf(facts), expectedMs);
    return facts;
  }
}

/** Whether the stretches that are known have as many rows of each stream together as they had. */
async function areUnchanged(
  { upstream, reader, selection }: FactsRequest,
  stretches: readonly TimeRange[],
  findings: readonly (Finding | undefined)[],
  whole: { readonly range: TimeRange; readonly listed: readonly BackendValue[] },
): Promise<boolean> {
  const known = stretches.filter((_stretch, index) => findings[index] !== undefined);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return false;
  const isGapless = known.every(({ endNs }, index) => endNs === (known[index + 1]?.startNs ?? endNs));
  if (!isGapless) return false;
  const range = { startNs: first.startNs, endNs: last.endNs };
  const isAll = range.startNs === whole.range.startNs && range.endNs === whole.range.endNs;
  const listed = isAll
    ? whole.listed
    : await upstream.list({ listing: 'streams', query: query(selection), range });
  const rows = listed.map(({ value, hits }) => [value, hits] as const);
  const tally = await atPace(tallyOf(reader, rows), new Pacer());
  return tally === addTallies(findings.flatMap((finding) => finding?.tally ?? []));
}

/** About what facts take; stream texts are the largest part. */
function bytesOf({ suspects }: Facts): number {
  let bytes = 200;
  for (const text of suspects) bytes += 2 * text.length + 60;
  return bytes;
}

function keyOf({ owner, selection, columns, odd }: FactsRequest): string {
  const asked = odd === undefined ? [] : [printFilter(odd)];
  return JSON.stringify([owner, columns, printFilter(selection), ...asked]);
}

async function look(
  { upstream, reader, naming, selection, columns, odd: oddRows }: FactsRequest,
  range: TimeRange,
): Promise<Finding> {
  const counting = stats(
    ['_stream', ...columns],
    statsFunction('count', [], 'rows'),
    statsFunction('count_uniq_hash', ['_time'], 'different'),
    { ...statsFunction('count', [], 'missing'), condition: missingLineRows(naming) },
    ...(oddRows === undefined ? [] : [{ ...statsFunction('count', [], 'odd'), condition: oddRows }]),
  );
  const pipes = columns.length === 0 ? [counting] : [counting, limit(maxGroups)];
  const rows = new Map<string, number>();
  const suspects = new Set<string>();
  let [missing, groups, odd, isHidden] = [0, 0, 0, false];
  for await (const batch of upstream.rows({ query: query(selection, pipes), range })) {
    groups += batch.length;
    for (const row of batch) {
      const text = row['_stream'] ?? '{}';
      const before = rows.get(text);
      rows.set(text, (before ?? 0) + Number(row['rows']));
      missing += Number(row['missing']);
      odd += Number(row['odd'] ?? 0);
      // Rows of one stream that fall into several groups may share times all the same.
      if (before !== undefined || row['rows'] !== row['different']) suspects.add(text);
      const { fields } = reader.stream(text);
      isHidden ||= columns.some((name) => (row[name] ?? '') !== (fields.get(name) ?? ''));
    }
  }
  const tally = await atPace(tallyOf(reader, rows), new Pacer());
  return { tally, suspects, missing, odd, isHidden: isHidden || (columns.length > 0 && groups >= maxGroups) };
}

export interface Stretch extends TimeRange {
  /** Whether it is one of those that ranges are cut into again and again. */
  readonly isWhole: boolean;
}

/** A range as whole hours (or other lengths, for short and long ranges), shorter stretches, and what is left at its ends. */
export function stretchesOf(range: TimeRange): readonly Stretch[] {
  const spanNs = range.endNs - range.startNs;
  const fitting = lengths.find(([long]) => spanNs / (long * minuteNs) < maxStretches);
  if (fitting === undefined) return [{ ...range, isWhole: false }];
  const [long, short] = fitting;
  return cut(range, long * minuteNs).flatMap((stretch) =>
    stretch.isWhole ? [stretch] : cut(stretch, short * minuteNs),
  );
}

/** Cuts behind the multiples of a length, because windows hold their end and not their begin; what is shorter stands at the ends. */
function cut({ startNs, endNs }: TimeRange, lengthNs: bigint): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (let at = startNs; at < endNs;) {
    const border = ((at - 1n) / lengthNs + 1n) * lengthNs + 1n;
    const next = border < endNs ? border : endNs;
    stretches.push({ startNs: at, endNs: next, isWhole: next - at === lengthNs });
    at = next;
  }
  return stretches;
}

/** Nobody outside can choose streams whose words add up alike. */
const salt = randomBytes(16);
/** Streams that are added in one step. */
const stepStreams = 100;
const mask = (1n << 64n) - 1n;
const words = new WeakMap<StreamIdentity, bigint>();

/**
 * Rows by stream as one number: equal for the same rows of the same streams, and for others by a chance of one in 2^64. Tallies of
 * stretches of time add up to that of them all.
 */
export function* tallyOf(
  reader: RowReader,
  streams: Iterable<readonly [text: string, rows: number]>,
): Steps<bigint> {
  let sum = 0n;
  let count = 0;
  for (const [text, rows] of streams) {
    sum += wordOf(reader.stream(text), text) * BigInt(rows);
    count += 1;
    if (count % stepStreams === 0) yield;
  }
  return sum & mask;
}

/** The tally of several. */
export function addTallies(tallies: readonly bigint[]): bigint {
  return tallies.reduce((sum, tally) => sum + tally, 0n) & mask;
}

function wordOf(stream: StreamIdentity, text: string): bigint {
  let word = words.get(stream);
  if (word === undefined) {
    word = createHash('sha256').update(salt).update(text).digest().readBigUInt64LE();
    words.set(stream, word);
  }
  return word;
}
