import { apiError } from '../../base/errors/table.js';
import { entryBytes, labelsBytes, seriesBytes, textBytes } from '../../base/memory/byte-lru.js';
import type { VectorMatching, SetOp, ArithmeticOp, BinaryOp, CompareOp } from '../ast.js';
import type { BinaryBudget } from './binary-budget.js';
import type { Columns } from './windows.js';
import { type Label, type LabelSet, withoutEmpty } from '../../base/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { zeroBytes } from '../../base/memory/slab.js';
import { keepLabels } from './result.js';
import { eachAtPace, type Pacer } from '../../base/pace/steps.js';
import { emptyRow, type SeriesRow } from './work.js';
import { foldLiterals } from '../fold.js';

/** A violation of the matching rules, with its column. */
interface MatchViolation {
  readonly column: number;
  readonly kind: 'duplicate' | 'many-to-one' | 'not-unique';
}

/** The outcome of an operation: its rows, which are empty from the column of its first error on. */
interface BinaryOutcome {
  readonly rows: readonly SeriesRow[];
  readonly breach: Breach | undefined;
}

/** The errors of an expression at the first time with any. Loki evaluates in time order, with all operations at each time. */
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

/** True for the text of an error that a query gets because series match in a way that Loki does not allow; its status is 500. */
export function isMatchingError(text: string): boolean {
  return matchingErrors.test(text);
}

const matchingErrors =
  /^(?:\d+ errors: )?(?:multiple matches for labels: |found duplicate series on the (?:left|right) hand-side;)/;

/** The parts and limits of a binary operation. */
interface BinaryParts {
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
        // Samples after the first error are not shown, and must not use up the budget.
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
      this.#byKey.set(key, (marks = zeroBytes(this.#count)));
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

/**
 * `and`, `unless` and `or`: a sample is kept or dropped depending on the samples with the same signature on the other side at that time.
 */
export async function setOperation(
  op: SetOp,
  matching: VectorMatching | undefined,
  left: readonly SeriesRow[],
  right: readonly SeriesRow[],
  { count }: Columns,
  { memory, pacer }: { readonly memory: MemoryAccount; readonly pacer: Pacer },
): Promise<readonly SeriesRow[]> {
  const signature = signatureOf(matching);
  const out = new MetricRowCollector(count, memory);
  const keep = async (
    rows: readonly SeriesRow[],
    others: readonly SeriesRow[],
    wanted: 'matched' | 'unmatched',
  ): Promise<void> => {
    const groups = new Map<string, Uint8Array>();
    for (const [key, group] of await bySignature(others, signature, { memory, pacer })) {
      memory.charge(seriesBytes(count, 1), 'the values of series');
      groups.set(key, await anyPresent(group, count, pacer));
    }
    const wantedByte = wanted === 'matched' ? 1 : 0;
    for (const { labels, values, present } of rows) {
      const matched = groups.get(signature(labels).key);
      for (let column = 0; column < count; column += 1) {
        if (present[column] !== 1 || (matched?.[column] ?? 0) !== wantedByte) continue;
        out.put(labels, column, values[column] ?? 0);
      }
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
  };
  switch (op) {
    case 'and':
      await keep(left, right, 'matched');
      break;
    case 'unless':
      await keep(left, right, 'unmatched');
      break;
    case 'or':
      await keep(left, [], 'unmatched');
      await keep(right, left, 'unmatched');
      break;
  }
  return out.rows(pacer);
}

/** Collects samples into series: samples with equal labels go into one row, and into another only when their times are equal. */
class MetricRowCollector {
  readonly #byKey = new Map<string, SeriesRow[]>();
  readonly #count: number;
  readonly #memory: MemoryAccount;
  /** The number of samples so far. */
  samples = 0;

  constructor(count: number, memory: MemoryAccount) {
    this.#count = count;
    this.#memory = memory;
  }

  /** The rows of one label set, for adding samples. */
  of(labels: LabelSet): readonly SeriesRow[] {
    let rows = this.#byKey.get(labels.key);
    if (rows === undefined) this.#byKey.set(labels.key, (rows = [this.#row(labels)]));
    return rows;
  }

  put(labels: LabelSet, column: number, value: number): void {
    let row = this.of(labels).find(({ present }) => present[column] === 0);
    if (row === undefined) {
      row = this.#row(labels);
      this.#byKey.get(labels.key)?.push(row);
    }
    row.present[column] = 1;
    row.values[column] = value;
    this.samples += 1;
  }

  /** The rows that have samples. */
  async rows(pacer: Pacer): Promise<readonly SeriesRow[]> {
    const all: SeriesRow[] = [];
    await eachAtPace(this.#byKey.values(), pacer, (rows) => {
      for (const row of rows) if (row.present.includes(1)) all.push(row);
    });
    return all;
  }

  #row(labels: LabelSet): SeriesRow {
    this.#memory.charge(seriesBytes(this.#count) + labelsBytes(labels) + entryBytes, 'the values of series');
    return emptyRow(labels, this.#count);
  }
}

/** The labels by which series of two sides match: all without `on` and `ignoring`. An empty label counts as missing. */
function signatureOf(matching: VectorMatching | undefined): (labels: LabelSet) => LabelSet {
  if (matching === undefined) return withoutEmpty;
  const kept = keepLabels(new Set(matching.labels), matching.on);
  return (labels) => withoutEmpty(kept(labels));
}

/**
 * The labels of a result: for one-to-one matching, those that matched; otherwise those of the "many" side plus the labels that `group_left`
 * or `group_right` copies from the "one" side. Empty labels are dropped.
 */
function resultLabelsOf(matching: VectorMatching | undefined): (many: LabelSet, one: LabelSet) => LabelSet {
  if (matching?.group === undefined) return signatureOf(matching);
  const { include } = matching;
  if (include.length === 0) return withoutEmpty;
  const names = new Set(include);
  return (many, one) =>
    withoutEmpty(many.without(names).with(include.map((name): Label => [name, one.get(name)])));
}

/** Series by signature, in their original order. */
async function bySignature(
  rows: Iterable<SeriesRow>,
  signature: (labels: LabelSet) => LabelSet,
  { memory, pacer }: { readonly memory: MemoryAccount; readonly pacer: Pacer },
): Promise<ReadonlyMap<string, readonly SeriesRow[]>> {
  const groups = new Map<string, SeriesRow[]>();
  await eachAtPace(rows, pacer, (row) => {
    const { key } = signature(row.labels);
    const group = groups.get(key);
    if (group === undefined) {
      memory.charge(entryBytes + textBytes(key), 'the labels of series');
      groups.set(key, [row]);
    } else group.push(row);
  });
  return groups;
}

/** Tells for each column whether any of the rows has a sample. */
async function anyPresent(rows: Iterable<SeriesRow>, count: number, pacer: Pacer): Promise<Uint8Array> {
  const any = new Uint8Array(count);
  await eachAtPace(rows, pacer, ({ present }) => {
    for (let column = 0; column < count; column += 1) if (present[column] === 1) any[column] = 1;
  });
  return any;
}

/** Operators other than set operations. */
export type ValueOp = ArithmeticOp | CompareOp;

/** The result for two operands; undefined when a filtering comparison is false. */
export type Combine = (left: number, right: number) => number | undefined;

const compareOps: ReadonlySet<BinaryOp> = new Set(['==', '!=', '>', '>=', '<', '<=']);

function isCompareOp(op: BinaryOp): op is CompareOp {
  return compareOps.has(op);
}

/**
 * The operation of an operator on two samples. A comparison without `bool` keeps a value where it is true: the left one, or the one that is
 * not a literal.
 */
export function combineOf(op: ValueOp, returnBool: boolean, keeps: 'left' | 'right' = 'left'): Combine {
  if (!isCompareOp(op) || returnBool) return (left, right) => foldLiterals(op, left, right);
  return (left, right) => {
    if (foldLiterals(op, left, right) === 0) return undefined;
    return keeps === 'left' ? left : right;
  };
}
