import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter, StatsFunction } from '../../../victoria/logsql/ast.js';
import { and, freeName, limit, not, query, stats, statsFunction } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace } from '../../../base/pace/steps.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import {
  columnOf,
  type BackendRow,
  type BackendValue,
  type Upstream,
} from '../../../victoria/upstream/types.js';
import type { Memory } from '../../../base/memory/byte-lru.js';
import { bytesOfRow, keptRows, maxTimes, timesOfRepeats } from './repeated-times.js';
import type { Doubts } from './shapes.js';
import { Stretches, tallyOf, type Found } from './stretches.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';

/** Decides to what extent a selection's rows can be counted instead of read. */
export interface SelectionProfile {
  /** `_stream` texts of the streams in which rows may share a time. */
  readonly streamsWithSharedTimes: ReadonlySet<string>;
  /** The times at which lines of one stream repeat, and possibly others; undefined when there are too many. */
  readonly repeatedAt: readonly bigint[] | undefined;
  /** All rows of the selection with a line at these times; undefined when they are too many or too large, or not alike. */
  readonly repeatedRows: readonly BackendRow[] | undefined;
  /** Rows without a stored line. */
  readonly missing: number;
  /** Whether any row has a different value in one of the columns than its stream has in that field. */
  readonly isHidden: boolean;
  /** The number of rows that match the requested `unreliable` filter. */
  readonly unreliable: number;
  /** The number of rows of which the requested `doubts` hold. */
  readonly doubtful: number;
}

export interface ProfileRequest {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly naming: Naming;
  readonly selection: LogsqlFilter;
  /** Stream fields. */
  readonly columns: readonly string[];
  /** Matches rows that the backend would count wrongly. */
  readonly unreliable?: LogsqlFilter | undefined;
  /** Lines that represent only themselves. */
  readonly doubts?: Doubts | undefined;
}

/** The profile of one stretch of time. */
export interface StretchProfile extends SelectionProfile, Found {}

/** How long the profile of another range is used as a guess. */
const expectedMs = 600_000;
/** The most groups of a stretch; beyond that, columns are treated as independent of streams. */
const maxGroups = 50_000;
export const plainProfile: SelectionProfile = {
  streamsWithSharedTimes: new Set(),
  repeatedAt: [],
  repeatedRows: [],
  missing: 0,
  isHidden: false,
  unreliable: 0,
  doubtful: 0,
};

/** Profiles selections and remembers the result by stretches of time. */
export class SelectionProfiler {
  readonly #stretches: Stretches<StretchProfile>;
  readonly #latest: Memory<SelectionProfile>;

  /**
   * @param findings profiles of stretches
   * @param latest profiles of whole selections
   */
  constructor(findings: Memory<StretchProfile>, latest: Memory<SelectionProfile>) {
    this.#stretches = new Stretches(findings, bytesOf);
    this.#latest = latest;
  }

  /** The latest profile of a selection, for whatever range. */
  expected(request: ProfileRequest): SelectionProfile {
    return this.#latest.get(keyOf(request)) ?? plainProfile;
  }

  /** @param listed the streams of the whole range */
  async of(
    request: ProfileRequest,
    range: TimeRange,
    listed: readonly BackendValue[],
  ): Promise<SelectionProfile> {
    const key = keyOf(request);
    const found = await this.#stretches.of({ ...request, key }, range, listed, (stretch) =>
      look(request, stretch),
    );
    const profile = merged(found);
    this.#latest.set(key, profile, bytesOf(profile), expectedMs);
    return profile;
  }
}

/** Where profiles come from. */
export type Profiles = Pick<SelectionProfiler, 'expected' | 'of'>;

/**
 * The same profiles for one request, each made only once: a strategy that declines has often looked at just what the next one needs, and the
 * ends of a range, which are no whole stretches, are remembered by nobody.
 */
export function onceProfiled(profiler: Profiles): Profiles {
  const profiles = new Map<string, Promise<SelectionProfile>>();
  return {
    expected: (request) => profiler.expected(request),
    of: (request, range, listed) => {
      const key = `${keyOf(request)} ${range.startNs}-${range.endNs}`;
      const known = profiles.get(key);
      if (known !== undefined) return known;
      const profile = profiler.of(request, range, listed);
      profiles.set(key, profile);
      // Who asks again may do so by other means.
      profile.catch(() => profiles.delete(key));
      return profile;
    },
  };
}

function merged(found: readonly SelectionProfile[]): SelectionProfile {
  const streamsWithSharedTimes = new Set(found.flatMap((one) => [...one.streamsWithSharedTimes]));
  const areNamed = found.every(({ repeatedAt }) => repeatedAt !== undefined);
  const repeatedAt = found.flatMap((one) => one.repeatedAt ?? []);
  const areKept = found.every((one) => one.repeatedRows !== undefined);
  const repeatedRows = found.flatMap((one) => one.repeatedRows ?? []);
  return {
    streamsWithSharedTimes,
    repeatedRows: areKept && repeatedRows.length <= maxTimes ? repeatedRows : undefined,
    repeatedAt: areNamed && repeatedAt.length <= maxTimes ? repeatedAt : undefined,
    missing: found.reduce((sum, { missing }) => sum + missing, 0),
    isHidden: found.some(({ isHidden }) => isHidden),
    unreliable: found.reduce((sum, { unreliable }) => sum + unreliable, 0),
    doubtful: found.reduce((sum, { doubtful }) => sum + doubtful, 0),
  };
}

const bytesOfTime = 24;

/** The approximate size of a profile, which is mostly stream texts. */
function bytesOf({ streamsWithSharedTimes, repeatedAt = [], repeatedRows = [] }: SelectionProfile): number {
  let bytes = 200 + bytesOfTime * repeatedAt.length;
  for (const text of streamsWithSharedTimes) bytes += 2 * text.length + 60;
  for (const row of repeatedRows) bytes += bytesOfRow(row);
  return bytes;
}

function keyOf({ upstream, selection, columns, unreliable, doubts }: ProfileRequest): string {
  const asked = unreliable === undefined ? [] : [printFilter(unreliable)];
  if (doubts !== undefined) asked.push(doubts.key);
  return JSON.stringify([upstream.owner, columns, printFilter(selection), ...asked]);
}

async function look(
  { upstream, reader, naming, selection, columns, ...asked }: ProfileRequest,
  range: TimeRange,
): Promise<StretchProfile> {
  const named = (name: string): string => freeName(name, columns);
  const countIf = (condition: LogsqlFilter | undefined, name: string): readonly StatsFunction[] =>
    condition === undefined ? [] : [{ ...statsFunction('count', [], named(name)), condition }];
  const missing = missingLineRows(naming);
  const counting = stats(
    ['_stream', ...columns],
    statsFunction('count', [], named('rows')),
    statsFunction('count_uniq_hash', ['_time'], named('different')),
    ...countIf(missing, 'missing'),
    ...countIf(asked.unreliable, 'unreliable'),
    // The text that stands for a line that is not stored is no line to count.
    ...countIf(asked.doubts && and(not(missing), asked.doubts.filter), 'doubtful'),
  );
  const counted = [...(asked.doubts?.pipes ?? []), counting];
  const pipes = columns.length === 0 ? counted : [...counted, limit(maxGroups)];
  const rows = new Map<string, number>();
  const streamsWithSharedTimes = new Set<string>();
  let [missingRows, groups, unreliable, doubtful, isHidden] = [0, 0, 0, 0, false];
  for await (const batch of upstream.rows({ query: query(selection, pipes), range })) {
    groups += batch.length;
    for (const row of batch) {
      const text = row._stream ?? '{}';
      const before = rows.get(text);
      rows.set(text, (before ?? 0) + Number(columnOf(row, named('rows'))));
      missingRows += Number(columnOf(row, named('missing')));
      unreliable += Number(columnOf(row, named('unreliable')) ?? 0);
      doubtful += Number(columnOf(row, named('doubtful')) ?? 0);
      // Rows of one stream in several groups may still share times.
      if (before !== undefined || columnOf(row, named('rows')) !== columnOf(row, named('different')))
        streamsWithSharedTimes.add(text);
      const { fields } = reader.stream(text);
      isHidden ||= columns.some((name) => (columnOf(row, name) ?? '') !== (fields.get(name) ?? ''));
    }
  }
  const tally = await atPace(tallyOf(reader, rows), new Pacer());
  const looked = { upstream, range, filter: selection };
  const fieldsOf = (text: string): StreamIdentity['fields'] => reader.stream(text).fields;
  const repeatedAt = await timesOfRepeats(looked, streamsWithSharedTimes, fieldsOf);
  const withLines = { ...looked, filter: and(selection, not(missing)) };
  return {
    tally,
    streamsWithSharedTimes,
    repeatedAt,
    repeatedRows: await keptRows(withLines, repeatedAt),
    missing: missingRows,
    unreliable,
    doubtful,
    isHidden: isHidden || (columns.length > 0 && groups >= maxGroups),
  };
}
