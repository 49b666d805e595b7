import type { Dataset } from './data/dataset.js';
import { linesOf, type PlacedEntry } from './lines.js';
import { listedAs } from './listed.js';
import type { Lost } from './lost.js';
import type { Question } from './question.js';
import { signatureOf } from './signature.js';
import { shrink, type Shrunk } from './shrink/shrink.js';
import { judge, type Ask, type Verdict } from './verdict.js';

export type Outcome = 'equal' | 'unsteady' | 'lost' | 'listed' | 'different';

/** One cause, as far as its signature tells, with the smallest of its cases. */
export interface Finding extends Shrunk {
  readonly signature: string;
  readonly outcome: Outcome;
  /** Why the outcome is not `different`: the phrase of docs/differences.md, or what the backend did not keep. */
  readonly reason: string;
  /** Entries that the smallest case is about. */
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
  readonly loki: Ask;
  readonly proxy: Ask;
  readonly lost: readonly Lost[];
  /** Told of each cause once, when its first case has been made small. */
  readonly found?: (finding: Finding) => void;
}

/** Asks both every question, and finds the smallest case of what differs. */
export async function compareAll(
  questions: Iterable<Question>,
  settings: ComparisonSettings,
): Promise<Comparison> {
  const families = new Map<string, FamilyCount>();
  const findings = new Map<string, Finding>();
  for (const question of questions) {
    const verdict = await judge(question, settings.loki, settings.proxy);
    const count = families.get(question.family) ?? {
      asked: 0,
      withData: 0,
      outcomes: { equal: 0, unsteady: 0, lost: 0, listed: 0, different: 0 },
    };
    families.set(question.family, count);
    count.asked += 1;
    if (verdict.kind === 'equal' && verdict.hasData) count.withData += 1;
    const outcome =
      verdict.kind === 'different' ? await explore(question, verdict, settings, findings) : verdict.kind;
    count.outcomes[outcome] += 1;
  }
  return { families, findings };
}

async function explore(
  question: Question,
  difference: Extract<Verdict, { kind: 'different' }>,
  settings: ComparisonSettings,
  findings: Map<string, Finding>,
): Promise<Outcome> {
  const judged = (smaller: Question): Promise<Verdict> => judge(smaller, settings.loki, settings.proxy);
  const smallest = await shrink({ question, difference }, settings.data, judged);
  const signature = signatureOf(smallest.question, smallest.difference);
  const lines = linesOf(smallest.question, settings.data);
  const [outcome, reason] = explanation(smallest, lines, settings.lost);
  const key = `${outcome} ${signature}`;
  const known = findings.get(key);
  if (known === undefined) {
    const finding: Finding = {
      ...smallest,
      signature,
      outcome,
      reason,
      lines,
      original: question,
      families: new Map([[question.family, 1]]),
      count: 1,
    };
    findings.set(key, finding);
    settings.found?.(finding);
  } else {
    known.count += 1;
    known.families.set(question.family, (known.families.get(question.family) ?? 0) + 1);
  }
  return outcome;
}

const fewLines = 12;

/** A difference over few entries of which one was not kept is the backend's. */
function explanation(
  { question, difference }: Shrunk,
  lines: readonly PlacedEntry[],
  lost: readonly Lost[],
): readonly [Outcome, string] {
  const phrase = listedAs(question, difference);
  if (phrase !== undefined) return ['listed', phrase];
  const fault =
    lines.length > fewLines
      ? undefined
      : lost.find(({ entry }) => lines.some((line) => line.entry === entry));
  return fault === undefined ? ['different', ''] : ['lost', fault.reason];
}
