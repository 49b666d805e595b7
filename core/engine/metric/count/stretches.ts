import type { Clock } from '../../../base/clock.js';
import type { Memory } from '../../../base/memory/byte-lru.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, freeName, or, query, timeRange } from '../../../victoria/logsql/build.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import {
  columnOf,
  type BackendRow,
  type BackendValue,
  type Upstream,
} from '../../../victoria/upstream/types.js';
import { rowsOfStreams } from '../row-windows.js';
import { addTallies, type ListedRange, type Tallies } from './stream-listing.js';
import { isIn, partLengthOf, stretchesUntil, type Stretch } from './time-stretches.js';

/** A finding of one time segment. */
export interface Found {
  /** A checksum of its number of rows per stream. */
  readonly tally: bigint;
}

/** Rows to inspect. */
export interface Looked {
  /** Tells apart what is looked for, and where. */
  readonly key: string;
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly selection: LogsqlFilter;
}

/** A way to make findings. */
export interface Looking<Finding extends Found> {
  /** Gives a finding for each stretch, in their order. */
  readonly look: (run: Run) => Promise<readonly Finding[]>;
  /** True to skip segments with this number of rows; by default findings are always made. */
  readonly skips?: (rows: number) => boolean;
}

/** Evidence that findings still hold. */
export interface Proofs {
  readonly tallies: Tallies;
  readonly clock: Pick<Clock, 'nowNs'>;
}

/** Findings of a range. */
export interface Findings<Finding> {
  /** In any order. */
  readonly found: readonly Finding[];
  /** True when stretches were skipped. */
  readonly isIncomplete: boolean;
}

export const keptMs = 86_400_000;
/**
 * Rows that arrive between the listing of a range and a look would hide just as many that have come into its known stretches. Where rows of
 * this age are looked at, the known stretches are therefore listed by themselves. Older rows would have to arrive in these milliseconds,
 * and in the same numbers in the same streams: that is not worth another listing in each query.
 */
const arrivingNs = 3_600_000_000_000n;
/** Parallel looks, in addition to the statistics themselves. */
const parallel = 4;
/**
 * The most rows that are looked at in one call. The backend reads whole blocks, which may hold hours of a stream, for a stretch of minutes,
 * so that one call for many stretches takes little longer than one for each.
 */
const mostRows = 1_000_000;
/** Distinguishing more segments takes the backend longer than another call. */
const maxOfRun = 16;

/** A stretch, and what its finding is remembered by. */
interface KeyedStretch extends Stretch {
  readonly key: string;
}

/** Tells the rows of the stretches of a run apart, before they are put into groups. */
export interface Telling {
  readonly pipes: readonly LogsqlPipe[];
  /** The columns to group by. */
  readonly columns: readonly string[];
}

/** Stretches that are looked at in one call, the oldest first; there may be gaps between them. */
export class Run {
  readonly stretches: readonly KeyedStretch[];
  /** From the begin of the first to the end of the last. */
  readonly range: TimeRange;

  constructor(first: KeyedStretch, others: readonly KeyedStretch[] = []) {
    this.stretches = [first, ...others];
    this.range = { startNs: first.startNs, endNs: (others.at(-1) ?? first).endNs };
  }

  /** The time of all stretches. */
  get lengthNs(): bigint {
    return lengthOf(this.stretches);
  }

  /** Matches rows of the range that are in one of the stretches. */
  get within(): LogsqlFilter {
    const { stretches } = this;
    const hasGaps = stretches.some(({ startNs }, at) => startNs !== (stretches[at - 1]?.endNs ?? startNs));
    return hasGaps ? or(...stretches.map(({ startNs, endNs }) => timeRange(startNs, endNs))) : and();
  }

  /** @param taken names that the column of the stretch must not have */
  telling(taken: readonly string[]): Telling {
    if (this.stretches.length === 1) return { pipes: [], columns: [] };
    const column = freeName('stretch', taken);
    const pipes = this.stretches.map(({ startNs, endNs }, index): LogsqlPipe => {
      const condition = timeRange(startNs, endNs);
      return { kind: 'format', pattern: String(index), as: column, rule: 'overwrite', condition };
    });
    return { pipes, columns: [column] };
  }

  /** The one of these, which belong to the stretches, that a row belongs to. */
  of<Item>(items: readonly Item[], { _time = '' }: BackendRow): Item {
    return itemAt(items, this.stretches.length > 1 ? this.indexOf(parseRowTime(_time)) : 0);
  }

  /** The one that a group of rows belongs to. */
  ofGroup<Item>(items: readonly Item[], group: BackendRow, { columns: [column] }: Telling): Item {
    return itemAt(items, column === undefined ? 0 : Number(columnOf(group, column) ?? NaN));
  }

  /** The place of the stretch with this time among them; -1 in a gap. */
  indexOf(timeNs: bigint): number {
    return this.stretches.findIndex((stretch) => isIn(stretch, timeNs));
  }
}

function itemAt<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new Error('the backend sent a row of no stretch that was asked about');
  return item;
}

/**
 * Remembers what was found in a selection by whole stretches of time. It stays valid while each stream has the same number of rows in its
 * stretch, which one listing shows.
 */
export class Stretches<Finding extends Found> {
  readonly #memory: Memory<Finding>;
  readonly #bytesOf: (finding: Finding) => number;
  readonly #tallies: Tallies;
  readonly #clock: Pick<Clock, 'nowNs'>;

  constructor(memory: Memory<Finding>, bytesOf: (finding: Finding) => number, { tallies, clock }: Proofs) {
    this.#memory = memory;
    this.#bytesOf = bytesOf;
    this.#tallies = tallies;
    this.#clock = clock;
  }

  /** The findings of all stretches of a range, which `wholeStretches` has given; `look` finds what is not known. */
  async of(
    looked: Looked,
    { range, listed }: ListedRange,
    { look, skips = () => false }: Looking<Finding>,
  ): Promise<Findings<Finding>> {
    const stretches = stretchesUntil(range, this.#clock.nowNs()).map((stretch) => ({
      ...stretch,
      key: keyOf(looked, stretch),
    }));
    const known: KnownStretch<Finding>[] = [];
    const unknown: KeyedStretch[] = [];
    for (const stretch of stretches) {
      const findings = this.#known(looked, stretch);
      if (findings === undefined) unknown.push(stretch);
      else known.push({ stretch, findings });
    }
    const found: Finding[] = [];
    const mostOfAll = mostOfRun(range, listed);
    const lookAt = async (some: readonly KeyedStretch[]): Promise<'looked' | 'skipped'> => {
      if (some.length > 0 && skips(rowsIn(some, range, listed))) {
        return 'skipped';
      }
      // Where several queries are more than one call, each stretch is as well asked about by itself.
      const most = looked.upstream.unites === true ? maxOfRun : 1;
      const queue = runsOf(some, most, mostOfAll).values();
      const worker = async (): Promise<void> => {
        for (const run of queue) {
          const findings = await look(run);
          found.push(...findings);
          for (const [index, finding] of findings.entries()) this.#remember(run.stretches[index], finding);
        }
      };
      await Promise.all(Array.from({ length: parallel }, worker));
      return 'looked';
    };
    const all = { range, listed, tallies: this.#tallies };
    const arrivalNs = this.#clock.nowNs() - arrivingNs;
    const mayArrive = unknown.some(({ endNs }) => endNs > arrivalNs);
    const [atUnknown, changedNow] = await Promise.all([
      lookAt(unknown),
      mayArrive ? changedOf(looked, known, all) : undefined,
    ]);
    const looks = found.map((one) => one.tally);
    const changed =
      changedNow ??
      (atUnknown === 'skipped'
        ? await changedOf(looked, known, all)
        : await changedSince(looked, known, looks, all));
    for (const one of known) if (!changed.has(one.stretch)) found.push(...one.findings);
    const atChanged = await lookAt([...changed]);
    return { found, isIncomplete: atUnknown === 'skipped' || atChanged === 'skipped' };
  }

  /** Remembered findings of a segment, or of all its parts. */
  #known(looked: Looked, stretch: KeyedStretch): readonly Finding[] | undefined {
    const found = this.#memory.get(stretch.key);
    if (found !== undefined) return [found];
    const partNs = partLengthOf(stretch);
    if (!stretch.isWhole || partNs === undefined) return undefined;
    const findings: Finding[] = [];
    for (let { startNs } = stretch; startNs < stretch.endNs; startNs += partNs) {
      const part = { startNs, endNs: startNs + partNs, isWhole: true };
      const known = this.#known(looked, { ...part, key: keyOf(looked, part) });
      if (known === undefined) return undefined;
      findings.push(...known);
    }
    return findings;
  }

  #remember(stretch: KeyedStretch | undefined, finding: Finding): void {
    if (stretch?.isWhole === true) this.#memory.set(stretch.key, finding, this.#bytesOf(finding), keptMs);
  }
}

function lengthOf(stretches: readonly TimeRange[]): bigint {
  return stretches.reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0n);
}

/** About as many rows as stretches have, if the rows of a range are spread evenly. */
function rowsIn(
  stretches: readonly TimeRange[],
  { startNs, endNs }: TimeRange,
  listed: readonly BackendValue[],
): number {
  return (rowsOfStreams(listed) * Number(lengthOf(stretches))) / Number(endNs - startNs);
}

/** The longest run that should not have too many rows. */
function mostOfRun({ startNs, endNs }: TimeRange, listed: readonly BackendValue[]): bigint {
  const rows = rowsOfStreams(listed);
  return rows <= mostRows ? endNs - startNs : ((endNs - startNs) * BigInt(mostRows)) / BigInt(rows);
}

/** Puts stretches together, as long as they should not have too many rows. */
function runsOf(stretches: readonly KeyedStretch[], most: number, mostNs: bigint): readonly Run[] {
  const runs: { readonly stretches: [first: KeyedStretch, ...others: KeyedStretch[]]; lengthNs: bigint }[] =
    [];
  for (const stretch of stretches) {
    const lengthNs = stretch.endNs - stretch.startNs;
    const run = runs.at(-1);
    if (run === undefined || run.lengthNs + lengthNs > mostNs || run.stretches.length >= most)
      runs.push({ stretches: [stretch], lengthNs });
    else {
      run.stretches.push(stretch);
      run.lengthNs += lengthNs;
    }
  }
  return runs.map(({ stretches: [first, ...others] }) => new Run(first, others));
}

/** A stretch of which findings are remembered. */
interface KnownStretch<Finding extends Found> {
  readonly stretch: KeyedStretch;
  /** Of it, or of its parts. */
  readonly findings: readonly Finding[];
}

interface Listed extends ListedRange {
  readonly tallies: Tallies;
}

/**
 * The stretches in which streams no longer have the number of rows that they had, where all others have just been looked at: if all numbers
 * add up to those of the whole range, there are none.
 */
async function changedSince(
  looked: Looked,
  known: readonly KnownStretch<Found>[],
  looks: readonly bigint[],
  whole: Listed,
): Promise<ReadonlySet<KeyedStretch>> {
  if (known.length === 0) return new Set();
  const tally = await whole.tallies.ofListing(looked.reader, whole.listed);
  const sum = addTallies([...looks, ...known.flatMap(talliesOf)]);
  return tally === sum ? new Set() : changedOf(looked, known, whole);
}

function talliesOf({ findings }: KnownStretch<Found>): readonly bigint[] {
  return findings.map(({ tally }) => tally);
}

/** The stretches in which streams no longer have the number of rows that they had. */
async function changedOf(
  looked: Looked,
  known: readonly KnownStretch<Found>[],
  whole: Listed,
): Promise<ReadonlySet<KeyedStretch>> {
  const runs: KnownStretch<Found>[][] = [];
  for (const one of known) {
    const run = runs.at(-1);
    if (run?.at(-1)?.stretch.endNs === one.stretch.startNs) run.push(one);
    else runs.push([one]);
  }
  const changed = await Promise.all(runs.map((run) => changedIn(looked, run, whole)));
  return new Set(changed.flat());
}

/** The same of stretches that follow each other: one listing tells that all are as they were, some more which ones are not. */
async function changedIn(
  looked: Looked,
  run: readonly KnownStretch<Found>[],
  whole: Listed,
): Promise<readonly KeyedStretch[]> {
  const [first, last] = [run[0]?.stretch, run.at(-1)?.stretch];
  if (first === undefined || last === undefined) return [];
  const range = { startNs: first.startNs, endNs: last.endNs };
  const isAll = range.startNs === whole.range.startNs && range.endNs === whole.range.endNs;
  const { upstream, reader, selection } = looked;
  const listed = isAll
    ? whole.listed
    : await upstream.list({ listing: 'streams', query: query(selection), range });
  const tally = await whole.tallies.ofListing(reader, listed);
  if (tally === addTallies(run.flatMap(talliesOf))) return [];
  if (run.length === 1) return [first];
  const middle = run.length >> 1;
  const halves = [run.slice(0, middle), run.slice(middle)];
  return (await Promise.all(halves.map((half) => changedIn(looked, half, whole)))).flat();
}

function keyOf({ key }: Looked, { startNs, endNs }: TimeRange): string {
  return `${key} ${startNs}-${endNs}`;
}
