import { ofKey } from '../../base/memory/byte-lru.js';
import { summed } from '../../base/order.js';
import { canonical } from '../../comparison/json.js';
import { knownDifference } from '../../comparison/known-differences.js';
import type { NotAsked } from '../queries/filled-queries.js';
import type { Compared, Outcome } from './ask.js';

/** Maximum number of differences whose answers are kept for the report; further ones are counted and named. */
const maxDetails = 500;
/** Maximum number of characters of an answer in the report. */
const maxAnswer = 4000;

/** A comparison in a report, without the answers themselves. */
export interface ReportedRequest {
  readonly group: string;
  readonly name: string;
  readonly text: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string | readonly string[]>>;
  readonly outcome: Outcome['kind'];
  /** The difference between the answers, or the reason why there is no comparison. */
  readonly reason?: string;
  /** Words of the row in docs/differences.md that explains the difference. */
  readonly known?: string;
  readonly reference?: string;
  readonly candidate?: string;
  readonly referenceMs?: number;
  readonly candidateMs?: number;
}

export interface Counts {
  equal: number;
  /** Number of equal answers without content, which prove little. */
  empty: number;
  different: number;
  unsteady: number;
  failed: number;
  notAsked: number;
}

/** The results of a comparison, in bounded memory: of equal answers only name and times are kept. */
export class Summary {
  readonly requests: ReportedRequest[] = [];
  readonly notAsked: NotAsked[] = [];
  readonly #groups = new Map<string, Counts>();
  readonly #times = { reference: [] as number[], candidate: [] as number[] };
  #details = 0;

  add({ request, outcome, referenceMs, candidateMs }: Compared): void {
    const { group, name, text, path, params } = request;
    const counts = this.#countsOf(group);
    counts[outcome.kind] += 1;
    if (outcome.kind === 'equal' && !outcome.hasData) counts.empty += 1;
    if (referenceMs !== undefined) this.#times.reference.push(referenceMs);
    if (candidateMs !== undefined) this.#times.candidate.push(candidateMs);
    const times = {
      ...(referenceMs === undefined ? {} : { referenceMs: Math.round(referenceMs) }),
      ...(candidateMs === undefined ? {} : { candidateMs: Math.round(candidateMs) }),
    };
    this.requests.push({
      group,
      name,
      text,
      path,
      params,
      outcome: outcome.kind,
      ...times,
      ...this.#detailsOf(request, outcome),
    });
  }

  addNotAsked(notAsked: NotAsked): void {
    this.#countsOf(notAsked.query.group).notAsked += 1;
    this.notAsked.push(notAsked);
  }

  /** Counts by dashboard, rule group or file, in the order of their first query. */
  get groups(): ReadonlyMap<string, Readonly<Counts>> {
    return this.#groups;
  }

  get total(): Readonly<Counts> {
    return summed(noCounts(), [...this.#groups.values()]);
  }

  /** Median duration by side, in milliseconds. */
  get medians(): { readonly reference: number; readonly candidate: number } {
    return { reference: median(this.#times.reference), candidate: median(this.#times.candidate) };
  }

  #countsOf(group: string): Counts {
    return ofKey(this.#groups, group, noCounts);
  }

  #detailsOf(request: Compared['request'], outcome: Outcome): Partial<ReportedRequest> {
    if (outcome.kind === 'equal') return {};
    if (outcome.kind === 'failed') return { reason: outcome.reason };
    const { kind, where, reference, candidate } = outcome.difference;
    const reason = where === undefined ? kind : `${kind} in ${where}`;
    if (outcome.kind === 'unsteady') return { reason, reference, candidate };
    const [wanted, got] = outcome.answers;
    const known = knownDifference({
      request,
      difference: outcome.difference,
      reference: wanted,
      candidate: got,
      hasTenants: request.orgId?.includes('|') === true,
    });
    const explained = known === undefined ? {} : { known };
    this.#details += 1;
    if (this.#details > maxDetails) return { reason, ...explained };
    return {
      reason,
      ...explained,
      reference: `${reference}\n\n${shortened(wanted.body)}`,
      candidate: `${candidate}\n\n${shortened(got.body)}`,
    };
  }
}

function noCounts(): Counts {
  return { equal: 0, empty: 0, different: 0, unsteady: 0, failed: 0, notAsked: 0 };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
}

function shortened(body: unknown): string {
  const text = typeof body === 'string' ? body : canonical(body);
  return text.length <= maxAnswer ? text : `${text.slice(0, maxAnswer)}...`;
}
