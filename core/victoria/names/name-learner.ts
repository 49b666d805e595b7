import type { TimeRange } from '../../base/time/range.js';
import { ByteLru } from '../../base/memory/byte-lru.js';
import { printFilter } from '../logsql/print.js';
import type { LogsqlFilter } from '../logsql/ast.js';
import { query } from '../logsql/build.js';
import type { Clock } from '../../base/clock.js';
import type { Upstream } from '../upstream/types.js';
import type { Naming } from './naming.js';
import { spellingsOf, StoredNames, type Spellings } from './stored-names.js';

/** What names are learned for: these rows of one tenant. */
export interface Question {
  /** Tells data apart that must not share an answer: tenant and forwarded credentials. */
  readonly owner: string;
  /** X-Scope-OrgID, by which explain asks for what was learned. */
  readonly tenantId?: string;
  readonly naming: Naming;
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
  readonly upstream: Upstream;
}

interface Learned {
  readonly range: TimeRange;
  /** Rows from here on were not there when the names were listed, or were not asked for. */
  readonly knownUntilNs: bigint;
  /** True when the range reached the present, so that a later question differs in rows that came since only. */
  readonly reachedNow: boolean;
  readonly spellings: Spellings;
}

const ttlMs = 60_000;
const maxEntries = 500;
const maxBytes = 16 * 1024 * 1024;
/** More names than this are not worth their memory; queries then run without. */
const maxNames = 20_000;
/** Rows may become visible this much later than their time says. */
const lagNs = 60_000_000_000n;

/** Learns stored names from the backend's field_names and keeps them a minute, bounded by number and bytes. */
export class NameLearner {
  readonly #clock: Clock;
  readonly #known: ByteLru<Learned>;
  /** What was learned last, whoever asked: for explain. */
  readonly #latest: ByteLru<Learned>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#known = new ByteLru({ maxEntries, maxBytes, clock });
    this.#latest = new ByteLru({ maxEntries, maxBytes, clock });
  }

  /** The names of such rows as a query has learned them within the last minute; of any tenant where none is named. */
  recall(filter: LogsqlFilter, tenantId?: string): StoredNames | undefined {
    const learned = this.#latest.get(latestKey(filter, tenantId));
    return learned === undefined ? undefined : new StoredNames(learned.spellings);
  }

  /** The names of the rows; undefined when there are too many of them. */
  async learn(question: Question): Promise<StoredNames | undefined> {
    const { owner, naming, filter, range, upstream } = question;
    const key = `${owner}\n${printFilter(filter)}`;
    const kept = this.#known.get(key);
    if (kept !== undefined && covers(kept, range)) return namesFor(kept, range);
    const learnedAtNs = this.#clock.nowNs();
    const fields = await upstream.list({ listing: 'field_names', query: query(filter), range });
    if (fields.length > maxNames) return undefined;
    const names = fields.map(({ value }) => value);
    const safeUntilNs = learnedAtNs - lagNs;
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
    this.#known.clear();
    this.#latest.clear();
  }
}

const learners = new WeakMap<Naming, NameLearner>();

/** The learner of one pipeline, told by its naming: plugins that name the same things share what is learned. */
export function learnerOf(naming: Naming, clock: Clock): NameLearner {
  let learner = learners.get(naming);
  if (learner === undefined) learners.set(naming, (learner = new NameLearner(clock)));
  return learner;
}

function latestKey(filter: LogsqlFilter, tenantId: string | undefined): string {
  return `${tenantId ?? ''}\n${printFilter(filter)}`;
}

function covers({ range, knownUntilNs, reachedNow }: Learned, asked: TimeRange): boolean {
  return asked.startNs >= range.startNs && (asked.endNs <= knownUntilNs || reachedNow);
}

function namesFor({ knownUntilNs, spellings }: Learned, range: TimeRange): StoredNames {
  return new StoredNames(spellings, range.endNs <= knownUntilNs ? undefined : knownUntilNs);
}
