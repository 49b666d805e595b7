import type {
  BytesLabelFilter,
  CompareOp,
  DurationLabelFilter,
  IpLabelFilter,
  LabelFilter,
  LabelFilterTree,
  NumberLabelFilter,
  StringLabelFilter,
} from '../ast.js';
import { isIpPattern } from '../check/faults.js';
import { formatBytes, parseBytes } from '../values/bytes.js';
import { conversionCost, readBytes, readNanoseconds, readNumber, type Conversion } from './conversions.js';
import { compileLabelTest, labelMeaning } from './filter-test.js';
import { compileIpFilter } from './ip-matcher.js';
import type { Meter } from './work-line.js';
import type { SlotTable, LabelCheck } from './slot.js';
import { errorLabel } from './types.js';

export const labelFilterError = 'LabelFilterErr';

/** A label filter that is not composed of others. */
export type LabelComparison = Exclude<LabelFilter, LabelFilterTree>;

export function isComparison(filter: LabelFilter): filter is LabelComparison {
  return filter.kind !== 'and' && filter.kind !== 'or';
}

/** True if Loki replaces a comparison by one that matches every line, and then forgets the label's name. */
export function passesAlways(filter: LabelComparison): boolean {
  if (filter.kind !== 'string') return false;
  const { tests, isNegated } = labelMeaning(filter);
  return !isNegated && tests[0]?.kind === 'all';
}

/** Compiles a comparison: a value that cannot be compared keeps the line and marks it with an error, a missing label drops it. */
export function compileComparison(filter: LabelComparison, slots: SlotTable, meter: Meter): LabelCheck {
  if (filter.kind === 'string') return compileString(filter, slots, meter);
  return filter.kind === 'ip' ? compileIp(filter, slots, meter) : compileOrdered(filter, slots, meter);
}

/** A comparison by size. */
export type OrderedComparison = NumberLabelFilter | DurationLabelFilter | BytesLabelFilter;

/** The limit of a comparison, and the conversion of the texts that are compared with it. */
export function orderOf(filter: OrderedComparison): { readonly limit: number; readonly convert: Conversion } {
  switch (filter.kind) {
    case 'number':
      return { limit: filter.value, convert: readNumber };
    case 'duration':
      return { limit: Number(filter.nanoseconds), convert: readNanoseconds };
    case 'bytes':
      return { limit: reprintedBytes(filter.bytes), convert: readBytes };
  }
}

/** Loki prints a query and parses it again before running it; sizes are printed with two digits, so `1KiB` becomes `1.0kB`. */
function reprintedBytes(bytes: number): number {
  return parseBytes(formatBytes(bytes)) ?? bytes;
}

function compileString(filter: StringLabelFilter, slots: SlotTable, meter: Meter): LabelCheck {
  const { name } = filter;
  const slot = slots.pin(name);
  const test = compileLabelTest(filter, meter);
  if (name === errorLabel) return (work) => test(work.error);
  return (work) => test(work.get(slot) ?? '');
}

function compileOrdered(filter: OrderedComparison, slots: SlotTable, meter: Meter): LabelCheck {
  const slot = slots.pin(filter.name);
  const { limit, convert } = orderOf(filter);
  const passes = passesLimit(filter.op, limit);
  return (work) => {
    const text = work.get(slot);
    if (text === undefined) return false;
    meter.charge(conversionCost * text.length);
    const value = convert(text);
    if (typeof value === 'number') return passes(value);
    if (work.error === '') work.fail(labelFilterError, value);
    return true;
  };
}

/** The comparison of values with a limit. */
export function passesLimit(op: CompareOp, limit: number): (value: number) => boolean {
  switch (op) {
    case '==':
      return (value) => value === limit;
    case '!=':
      return (value) => value !== limit;
    case '>':
      return (value) => value > limit;
    case '>=':
      return (value) => value >= limit;
    case '<':
      return (value) => value < limit;
    case '<=':
      return (value) => value <= limit;
  }
}

/** An address is searched for anywhere in the value, as in a line; a line with an error passes, whatever the value. */
function compileIp({ name, op, value }: IpLabelFilter, slots: SlotTable, meter: Meter): LabelCheck {
  const slot = slots.pin(name);
  const matches = compileIpFilter(value, meter);
  // An invalid address inside a larger filter is not an error.
  const isValid = isIpPattern(value);
  return (work) => {
    if (work.error !== '') return true;
    const text = work.get(slot);
    return text !== undefined && isValid && matches(text) === (op === '=');
  };
}
