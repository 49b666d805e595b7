import type { TimeRange } from '../../base/time/range.js';
import { ByteLru } from '../../base/memory/byte-lru.js';
import { printFilter } from '../logsql/print.js';
import type { LogsqlFilter } from '../logsql/ast.js';
import { query } from '../logsql/build.js';
import type { Clock } from '../../base/clock.js';
import type { Upstream } from '../upstream/types.js';
import type { Naming } from './naming.js';
import { spellingsOf, StoredNames, type Spellings } from './stored-names.js';
import { StreamFieldLearner } from './stream-field-learner.js';

/** The rows of one tenant whose names are to be learned. */
export interface Question {
  /** X-Scope-OrgID, by which explain looks up learned names. */
  readonly tenantId?: string;
  readonly naming: Naming;
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
  readonly upstream: Upstream;
}

interface LearnedNames {
  readonly range: TimeRange;
  /** Names in rows from this time on are unknown: the rows did not exist yet or were not asked for. */
  readonly knownUntilNs: bigint;
  /** True when the range reached the present, so that a later question only differs in newer rows. */
  readonly reachedNow: boolean;
  readonly spellings: Spellings;
}

const ttlMs = 60_000;
const maxEntries = 500;
const maxBytes = 16 * 1024 * 1024;
/** More names are not worth their memory; queries then run without them. */
const maxNames = 20_000;
/** Rows may become visible this much later than their timestamp. */
const ingestionLagNs = 60_000_000_000n;

/** Learns stored names from the backend's field_names and keeps them for a minute, bounded by number and bytes. */
export class NameLearner {
  readonly streamFields: StreamFieldLearner;
  readonly #clock: Clock;
  readonly #known: ByteLru<LearnedNames>;
  /** The latest result for any caller, for explain. */
  readonly #latest: ByteLru<LearnedNames>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.streamFields = new StreamFieldLearner(clock);
    this.#known = new ByteLru({ maxEntries, maxBytes, clock });
    this.#latest = new ByteLru({ maxEntries, maxBytes, clock });
  }

  /** The names learned for these rows within the last minute; of any tenant when none is given. */
  recall(filter: LogsqlFilter, tenantId?: string): StoredNames | undefined {
    const learned = this.#latest.get(latestKey(filter, tenantId));
    return learned === undefined ? undefined : new StoredNames(learned.spellings);
  }

  /** The names in these rows; undefined when there are too many. */
  async learn(question: Question): Promise<StoredNames | undefined> {
    const { naming, filter, range, upstream } = question;
    const key = `${upstream.owner}\n${printFilter(filter)}`;
    const kept = this.#known.get(key);
    if (kept !== undefined && covers(kept, range)) return namesFor(kept, range);
    const learnedAtNs = this.#clock.nowNs();
    const fields = await upstream.list({ listing: 'field_names', query: query(filter), range });
    if (fields.length > maxNames) return undefined;
    const names = fields.map(({ value }) => value);
    const safeUntilNs = learnedAtNs - ingestionLagNs;
    const learned = {
      range,
      knownUntilNs: range.endNs < safeUntilNs ? range.endNs : safeUntilNs,
      reachedNow: range.endNs >= safeUntilNs,
      spellings: spellingsOf(names, naming),
    };
    const bytes = names.reduce((sum, name) => sum + 6 * name.length + 200, 0);
    this.#known.set(key, learned, bytes, ttlMs);
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

function namesFor({ knownUntilNs, spellings }: LearnedNames, range: TimeRange): StoredNames {
  return new StoredNames(spellings, range.endNs <= knownUntilNs ? undefined : knownUntilNs);
}
