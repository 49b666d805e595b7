import type { Dataset } from './data/dataset.js';
import { linesOf, type PlacedEntry } from './lines.js';
import { listedAs } from './listed.js';
import { orderLost, type Lost } from './lost.js';
import type { Question } from './question.js';
import { natureOf, signatureOf } from './signature.js';
import { shrink, type Shrunk } from './shrink/shrink.js';
import { judge, type Different, type Sides } from './verdict.js';

export const outcomes = ['equal', 'unsteady', 'storage', 'lost', 'listed', 'different'] as const;
export type Outcome = (typeof outcomes)[number];

/** One cause, identified by its signature, with its smallest case. */
export interface Finding extends Shrunk {
  readonly signature: string;
  readonly outcome: Outcome;
  /** The reason why the outcome is not `different`: the phrase of docs/differences.md, or the data that the backend did not keep. */
  readonly reason: string;
  /** Entries that the smallest case selects. */
  readonly lines: readonly PlacedEntry[];
  readonly original: Question;
  readonly families: Map<string, number>;
  count: number;
}

export interface FamilyCount {
  asked: number;
  withData: number;
  readonly outcomes: Record<Outcome, number>;
}

export interface Comparison {
  readonly families: ReadonlyMap<string, FamilyCount>;
  readonly findings: ReadonlyMap<string, Finding>;
}

export interface ComparisonSettings {
  readonly data: Dataset;
  readonly sides: Sides;
  readonly lost: readonly Lost[];
  /** Called once for each cause, after its first case has been shrunk. */
  readonly found?: (finding: Finding) => void;
}

/** Sends every question to both sides, and shrinks the cases that differ. */
export async function compareAll(
  questions: Iterable<Question> | AsyncIterable<Question>,
  settings: ComparisonSettings,
): Promise<Comparison> {
  const families = new Map<string, FamilyCount>();
  const findings = new Findings(settings);
  for await (const question of questions) {
    const verdict = await judge(question, settings.sides);
    const count = families.get(question.family) ?? noneOf();
    families.set(question.family, count);
    count.asked += 1;
    if (verdict.kind === 'equal' && verdict.hasData) count.withData += 1;
    const outcome = verdict.kind === 'different' ? await findings.add(question, verdict) : verdict.kind;
    count.outcomes[outcome] += 1;
  }
  return { families, findings: findings.byKey };
}

export function noneOf(): FamilyCount {
  return {
    asked: 0,
    withData: 0,
    outcomes: { equal: 0, unsteady: 0, storage: 0, lost: 0, listed: 0, different: 0 },
  };
}

/** After this many similar differences with one cause, further ones are assigned to it without shrinking. */
const enoughAlike = 4;

/** Causes by key, with their cases. */
class Findings {
  readonly byKey = new Map<string, Finding>();
  readonly #settings: ComparisonSettings;
  /** Finding keys of questions whose differences look similar before shrinking. */
  readonly #alike = new Map<string, string[]>();

  constructor(settings: ComparisonSettings) {
    this.#settings = settings;
  }

  async add(question: Question, difference: Different): Promise<Outcome> {
    const sight = `${question.path} ${natureOf(difference)}`;
    const before = this.#alike.get(sight) ?? [];
    this.#alike.set(sight, before);
    const [first] = before;
    const known = before.length >= enoughAlike && before.every((key) => key === first) ? first : undefined;
    const key = known ?? (await this.#explore(question, difference));
    before.push(key);
    const finding = this.byKey.get(key);
    if (finding === undefined) throw new Error(`no finding ${key}`);
    finding.count += 1;
    finding.families.set(question.family, (finding.families.get(question.family) ?? 0) + 1);
    return finding.outcome;
  }

  async #explore(original: Question, difference: Different): Promise<string> {
    const { data, sides, lost, found } = this.#settings;
    const smallest = await shrink({ question: original, difference }, data, (smaller) =>
      judge(smaller, sides, 1),
    );
    const signature = signatureOf(smallest.question, smallest.difference);
    const lines = linesOf(smallest.question, data);
    const [outcome, reason] = explanation(smallest, lines, lost);
    const key = `${outcome} ${signature}`;
    if (this.byKey.has(key)) return key;
    const finding = {
      ...smallest,
      signature,
      outcome,
      reason,
      lines,
      original,
      families: new Map<string, number>(),
      count: 0,
    };
    this.byKey.set(key, finding);
    found?.(finding);
    return key;
  }
}

const fewLines = 12;

/** Attributes a difference over a few entries to the backend if it lost one of them, or if the difference depends on the arrival order. */
function explanation(
  { question, difference }: Shrunk,
  lines: readonly PlacedEntry[],
  lost: readonly Lost[],
): readonly [Outcome, string] {
  const listed = listedAs(question, difference, lines);
  if (listed !== undefined) return listed;
  const fault =
    lines.length > fewLines
      ? undefined
      : lost.find(({ row }) => lines.some(({ entry }) => entry.rows.includes(row)));
  if (fault !== undefined) return ['lost', fault.reason];
  const order = orderLost(question, difference, lines);
  return order === undefined ? ['different', ''] : ['lost', order];
}
