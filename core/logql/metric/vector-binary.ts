import { apiError } from '../../base/errors/table.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, seriesBytes, textBytes } from '../../base/memory/sizes.js';
import type { VectorMatching } from '../ast.js';
import type { BinaryBudget } from './binary-budget.js';
import type { Columns } from './columns.js';
import { bySignature, resultLabelsOf, signatureOf } from './matching.js';
import type { Combine } from './operators.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import { MetricRowCollector } from './row-collector.js';
import type { SeriesRow } from './types.js';

/** A violation of the matching rules, with its column. */
interface MatchViolation {
  readonly column: number;
  readonly kind: 'duplicate' | 'many-to-one' | 'not-unique';
}

/** What is left of an operation: its rows, which are empty from the column of its first error on. */
export interface BinaryOutcome {
  readonly rows: readonly SeriesRow[];
  readonly breach: Breach | undefined;
}

/** The errors of an expression at the first time that has any. Loki evaluates in time order, and all operations at a time. */
export interface Breach {
  readonly column: number;
  /** ApiError `duplicateMatch`, `manyToOne` or `matchNotUnique`, or `severalErrors` of those. */
  readonly error: Error;
}

/** The errors of an operation: its own and those of its operands, in this order, at the earliest time. */
export function joinedBreach(breaches: readonly (Breach | undefined)[]): Breach | undefined {
  const all = breaches.filter((breach) => breach !== undefined);
  const column = Math.min(...all.map((breach) => breach.column));
  const errors = all.filter((breach) => breach.column === column).map(({ error }) => error);
  const [first, second] = errors;
  if (first === undefined) return undefined;
  if (second === undefined) return { column, error: first };
  const texts = errors.map(({ message }) => message).join('; ');
  return { column, error: apiError('severalErrors', { count: String(errors.length), texts }) };
}

/** The parts and limits of a binary operation. */
export interface BinaryParts {
  readonly budget: BinaryBudget;
  readonly memory: MemoryAccount;
  readonly pacer: Pacer;
}

/**
 * An arithmetic operation or comparison between two sides of series, sample by sample at equal times.
 */
export async function vectorBinary(
  combine: Combine,
  matching: VectorMatching | undefined,
  left: readonly SeriesRow[],
  right: readonly SeriesRow[],
  { count }: Columns,
  { budget, memory, pacer }: BinaryParts,
): Promise<BinaryOutcome> {
  const isSwapped = matching?.group === 'right';
  const [many, one] = isSwapped ? [right, left] : [left, right];
  const signature = signatureOf(matching);
  const labelsOf = resultLabelsOf(matching);
  const ones = await bySignature(one, signature, { memory, pacer });
  let breach = await duplicateOf(ones, count, pacer);
  const note = (kind: MatchViolation['kind'], column: number): void => {
    if (column < (breach?.column ?? count)) breach = { kind, column };
  };
  const out = new MetricRowCollector(count, memory);
  for (const [key, group] of await bySignature(many, signature, { memory, pacer })) {
    const partners = ones.get(key);
    if (partners === undefined) continue;
    const matched = new MatchedResults(matching?.group !== undefined, count, memory);
    for (const row of group) {
      for (const partner of partners) {
        const labels = labelsOf(row.labels, partner.labels);
        budget.labels(labels);
        const before = out.samples;
        // What comes after the first error is not shown, and must not be what the budget is spent on.
        for (let column = 0; column < (breach?.column ?? count); column += 1) {
          if (row.present[column] !== 1 || partner.present[column] !== 1) continue;
          if (!matched.mark(labels, column)) note(matched.kind, column);
          const [a, b] = [row.values[column] ?? 0, partner.values[column] ?? 0];
          const value = isSwapped ? combine(b, a) : combine(a, b);
          if (value !== undefined) out.put(labels, column, value);
        }
        budget.samples(out.samples - before);
      }
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
  }
  const rows = await out.rows(pacer);
  if (breach === undefined) return { rows, breach };
  const { column } = breach;
  await eachAtPace(rows, pacer, ({ present }) => {
    present.fill(0, column);
  });
  return { rows, breach: { column, error: violationError(breach, isSwapped) } };
}

/** Records the results of one signature: one per time, or one per time and label set. */
class MatchedResults {
  readonly kind: MatchViolation['kind'];
  readonly #byKey = new Map<string, Uint8Array>();
  readonly #isGrouped: boolean;
  readonly #count: number;
  readonly #memory: MemoryAccount;

  constructor(isGrouped: boolean, count: number, memory: MemoryAccount) {
    this.#memory = memory;
    this.kind = isGrouped ? 'not-unique' : 'many-to-one';
    this.#isGrouped = isGrouped;
    this.#count = count;
  }

  /** False when there already is one. */
  mark(labels: LabelSet, column: number): boolean {
    const key = this.#isGrouped ? labels.key : '';
    let marks = this.#byKey.get(key);
    if (marks === undefined) {
      this.#memory.charge(seriesBytes(this.#count, 1) + entryBytes + textBytes(key), 'the values of series');
      this.#byKey.set(key, (marks = new Uint8Array(this.#count)));
    }
    if (marks[column] === 1) return false;
    marks[column] = 1;
    return true;
  }
}

/** The first column in which two series of the "one" side share a signature. */
async function duplicateOf(
  ones: ReadonlyMap<string, readonly SeriesRow[]>,
  count: number,
  pacer: Pacer,
): Promise<MatchViolation | undefined> {
  let first = count;
  await eachAtPace(ones.values(), pacer, (group) => {
    if (group.length < 2) return;
    for (let column = 0; column < first; column += 1)
      if (group.filter(({ present }) => present[column] === 1).length > 1) first = column;
  });
  return first === count ? undefined : { column: first, kind: 'duplicate' };
}

function violationError({ kind }: MatchViolation, isSwapped: boolean): Error {
  switch (kind) {
    case 'duplicate':
      return apiError('duplicateMatch', { side: isSwapped ? 'left' : 'right' });
    case 'many-to-one':
      return apiError('manyToOne', {});
    case 'not-unique':
      return apiError('matchNotUnique', {});
  }
}
