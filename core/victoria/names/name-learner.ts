import { addTo } from '../../base/order.js';
import type { Clock } from '../../base/clock.js';
import { ByteLru } from '../../base/memory/byte-lru.js';
import type { TimeRange } from '../../base/time/range.js';
import { labelName } from '../../logql/pipeline/slot.js';
import type { LogsqlFilter } from '../logsql/ast.js';
import { everything, query } from '../logsql/build.js';
import { printFilter } from '../logsql/print.js';
import { isOwnColumn, type Upstream } from '../upstream/types.js';
import type { Naming } from './naming.js';

/** The stored spellings of client names, learned from the backend (otel-README, rule 5). */
export interface KnownNames {
  /** Rows from this time on may have unknown fields; undefined if the requested range has no such rows. */
  readonly unknownFromNs: bigint | undefined;
  /** All fields of rows except those that every row has; undefined if they are not known. */
  readonly fields: readonly string[] | undefined;
  /** Every stored field that a row may show under this name, as a label or as structured metadata. */
  readonly fieldsOf: (name: string) => readonly string[];
  /** The subset of `fieldsOf` that every row shows under this name, however it was ingested. */
  readonly sureFieldsOf: (name: string) => readonly string[];
  /** The fields from which `| json` makes this label, in rows whose line is rebuilt from their fields. */
  readonly parsedFieldsOf: (name: string) => readonly string[];
}

/** Assumed if the backend has not been asked: every name is stored as it is written. */
export const namesAsWritten: KnownNames = {
  unknownFromNs: undefined,
  fields: undefined,
  fieldsOf: (name) => [name],
  sureFieldsOf: (name) => [name],
  parsedFieldsOf: (name) => [name],
};

/** Groups stored fields by all names under which clients may see them. */
export function storedNames(stored: readonly string[], naming: Naming): KnownNames {
  const byClientName = new Map<string, string[]>();
  const sure = new Map<string, string[]>();
  const parsed = new Map<string, string[]>();
  for (const field of stored) {
    const label = naming.labelOf(field);
    // A name does not show whether it was ingested by OTLP, so both ways of sanitizing it count.
    const byOtlp = new Set(naming.metadataNames(field, true));
    const otherwise = new Set(naming.metadataNames(field, false));
    for (const name of byOtlp) if (otherwise.has(name)) addTo(sure, name, field);
    const names = new Set([...byOtlp, ...otherwise]);
    if (label !== undefined) names.add(label);
    for (const name of names) addTo(byClientName, name, field);
    addTo(parsed, labelName(field), field);
  }
  return {
    unknownFromNs: undefined,
    fields: stored.filter((field) => !isOwnColumn(field)),
    fieldsOf: (name) => byClientName.get(name) ?? [],
    sureFieldsOf: (name) => sure.get(name) ?? [],
    parsedFieldsOf: (name) => parsed.get(name) ?? [],
  };
}

/** The rows of one tenant from which names are learned. */
export interface NamesQuestion {
  /** X-Scope-OrgID, by which `explain` looks up learned names. */
  readonly tenantId?: string;
  readonly naming: Naming;
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
  readonly upstream: Upstream;
}

interface LearnedNames {
  readonly range: TimeRange;
  readonly learnedAtMs: number;
  readonly bytes: number;
  /** Names in rows from this time on are unknown: the rows did not exist yet or were not requested. */
  readonly knownUntilNs: bigint;
  /** True if the range reached the present, so that a later question only differs in newer rows. */
  readonly reachedNow: boolean;
  readonly names: KnownNames;
}

const ttlMs = 60_000;
const maxEntries = 500;
const maxBytes = 16 * 1024 * 1024;
/** Maximum number of ranges per filter: a long query has several. */
const maxRangesOfFilter = 8;
/** Maximum number of names; queries with more are planned without them. */
const maxNames = 20_000;
/** Maximum time from a row's timestamp until it becomes visible. */
const ingestionLagNs = 60_000_000_000n;

/** Learns stored names from the backend's field_names and caches them for a minute, bounded by number and bytes. */
export class NameLearner {
  readonly streamFields: StreamFieldLearner;
  readonly #clock: Clock;
  readonly #known: ByteLru<readonly LearnedNames[]>;
  /** The latest result for any caller, for `explain`. */
  readonly #latest: ByteLru<LearnedNames>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.streamFields = new StreamFieldLearner(clock);
    this.#known = new ByteLru({ maxEntries, maxBytes, clock });
    this.#latest = new ByteLru({ maxEntries, maxBytes, clock });
  }

  /** The names learned for these rows within the last minute, for any tenant if none is given. */
  recall(filter: LogsqlFilter, tenantId?: string): KnownNames | undefined {
    return this.#latest.get(latestKey(filter, tenantId))?.names;
  }

  /** The names in these rows; undefined if there are too many. */
  async learn(question: NamesQuestion): Promise<KnownNames | undefined> {
    const { naming, filter, range, upstream } = question;
    const key = `${upstream.owner}\n${printFilter(filter)}`;
    const nowMs = this.#clock.monotonicMs();
    const kept = (): readonly LearnedNames[] =>
      (this.#known.get(key) ?? []).filter(({ learnedAtMs }) => nowMs - learnedAtMs < ttlMs);
    const covering = kept().findLast((each) => covers(each, range));
    if (covering !== undefined) return namesFor(covering, range);
    const learnedAtNs = this.#clock.nowNs();
    const fields = await upstream.list({ listing: 'field_names', query: query(filter), range });
    if (fields.length > maxNames) return undefined;
    const names = fields.map(({ value }) => value);
    const safeUntilNs = learnedAtNs - ingestionLagNs;
    const bytes = names.reduce((sum, name) => sum + 6 * name.length + 200, 0);
    const learned = {
      ...{ range, bytes, learnedAtMs: nowMs },
      knownUntilNs: range.endNs < safeUntilNs ? range.endNs : safeUntilNs,
      reachedNow: range.endNs >= safeUntilNs,
      names: storedNames(names, naming),
    };
    // Other parts may have been listed meanwhile.
    const all = [...kept().slice(1 - maxRangesOfFilter), learned];
    this.#known.set(
      key,
      all,
      all.reduce((sum, each) => sum + each.bytes, 0),
      ttlMs,
    );
    this.#latest.set(latestKey(filter, undefined), learned, bytes, ttlMs);
    if (question.tenantId !== undefined)
      this.#latest.set(latestKey(filter, question.tenantId), learned, bytes, ttlMs);
    return namesFor(learned, range);
  }

  clear(): void {
    this.streamFields.clear();
    this.#known.clear();
    this.#latest.clear();
  }
}

function latestKey(filter: LogsqlFilter, tenantId: string | undefined): string {
  return `${tenantId ?? ''}\n${printFilter(filter)}`;
}

function covers({ range, knownUntilNs, reachedNow }: LearnedNames, asked: TimeRange): boolean {
  return asked.startNs >= range.startNs && (asked.endNs <= knownUntilNs || reachedNow);
}

function namesFor({ knownUntilNs, names }: LearnedNames, range: TimeRange): KnownNames {
  return range.endNs <= knownUntilNs ? names : { ...names, unknownFromNs: knownUntilNs };
}

/** A range with known fields. */
interface Covered {
  readonly startNs: bigint;
  /** End of the part in which all rows were visible when they were listed. */
  readonly endNs: bigint;
  /** End of the listed range. */
  readonly listedNs: bigint;
}

/** The stream fields of one owner of data. */
interface Known {
  readonly fields: ReadonlySet<string>;
  readonly covered: readonly Covered[];
  /** Time of the latest listing in milliseconds. */
  readonly listedMs: number;
  /** Time at which everything was last forgotten, in milliseconds. */
  readonly sinceMs: number;
}

/** Minimum time between listings of the newest rows. A new field may be missed for this long. */
const newFieldMs = 10_000;
/** As `newFieldMs`, if a query names a label without a known field. */
const missingFieldMs = 1_000;
/** TTL of names, since rows that arrive with old timestamps may have new fields. */
const keptMs = 600_000;
const maxRanges = 16;
const maxFields = 20_000;
const maxOwners = 500;

/**
 * Remembers the names of stream fields by owner of the data. Names are only ever added, since a superfluous one only makes queries longer.
 * Only ranges that were not listed before are listed, and the newest rows every ten seconds.
 */
class StreamFieldLearner {
  readonly #clock: Clock;
  readonly #known: ByteLru<Known>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#known = new ByteLru({ maxEntries: maxOwners, maxBytes, clock });
  }

  /**
   * The names of the stream fields in a range.
   * @param isEnough true if these names are all that the caller needs; if not, listings older than a second are repeated
   */
  async learn(
    upstream: Upstream,
    range: TimeRange,
    isEnough: (fields: ReadonlySet<string>) => boolean,
  ): Promise<ReadonlySet<string>> {
    const { owner } = upstream;
    const nowMs = this.#clock.monotonicMs();
    const kept = this.#known.get(owner);
    const known = kept !== undefined && nowMs - kept.sinceMs < keptMs ? kept : nothingKnown(nowMs);
    const missing = missingIn(range, known.covered);
    const ageMs = nowMs - known.listedMs;
    const isFresh = missing.isTail && ageMs < (isEnough(known.fields) ? newFieldMs : missingFieldMs);
    if (missing.range === undefined || isFresh) return known.fields;
    const safeUntilNs = this.#clock.nowNs() - ingestionLagNs;
    const listed = await upstream.list({
      listing: 'stream_field_names',
      query: query(everything),
      range: missing.range,
      hits: 'any',
    });
    const fields = new Set(known.fields);
    for (const { value } of listed) if (fields.size < maxFields) fields.add(value);
    const { startNs, endNs: listedNs } = missing.range;
    const endNs = listedNs < safeUntilNs ? listedNs : safeUntilNs;
    const covered = withRange(known.covered, { startNs, endNs, listedNs });
    const bytes = [...fields].reduce((sum, name) => sum + 2 * name.length + 64, 200);
    this.#known.set(owner, { ...known, fields, covered, listedMs: nowMs }, bytes, keptMs);
    return fields;
  }

  clear(): void {
    this.#known.clear();
  }
}

function nothingKnown(nowMs: number): Known {
  return { fields: new Set(), covered: [], listedMs: -Infinity, sinceMs: nowMs };
}

/** The part of a range that no listing covers; `isTail` if it starts where an earlier listing ended because rows were not yet visible. */
function missingIn(
  { startNs, endNs }: TimeRange,
  covered: readonly Covered[],
): { readonly range: TimeRange | undefined; readonly isTail: boolean } {
  const from = covered.find((one) => one.startNs <= startNs && one.listedNs >= startNs);
  if (from === undefined) return { range: { startNs, endNs }, isTail: false };
  if (from.endNs >= endNs) return { range: undefined, isTail: false };
  return { range: { startNs: from.endNs, endNs }, isTail: true };
}

/** Ranges in order, joined if they touch; of too many, the newest are kept. */
function withRange(covered: readonly Covered[], added: Covered): readonly Covered[] {
  const sorted = [...covered, added].sort((a, b) => (a.startNs < b.startNs ? -1 : 1));
  const joined: Covered[] = [];
  for (const one of sorted) {
    const last = joined.at(-1);
    if (last === undefined || one.startNs > last.endNs) joined.push(one);
    else if (one.endNs > last.endNs) joined[joined.length - 1] = { ...one, startNs: last.startNs };
    else if (one.listedNs > last.listedNs) joined[joined.length - 1] = { ...last, listedNs: one.listedNs };
  }
  return joined.slice(-maxRanges);
}
