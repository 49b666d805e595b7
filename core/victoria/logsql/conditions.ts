import type { LogsqlFilter, StreamMatcher } from './ast.js';
import { not } from './build.js';
import { printFilter } from './print.js';

/** A condition that every selected row passes, short enough for a reader. */
export interface ShortCondition {
  /** LogsQL; for a condition on several fields, the one on the first of them. */
  readonly text: string;
  /** The fields of which the first with a value is compared; empty for a condition on one field. */
  readonly fields: readonly string[];
}

/** The conditions of a filter, one after another; those that look for one value in several fields name it once. */
export function shortConditions(filter: LogsqlFilter): readonly ShortCondition[] {
  const parts = filter.kind === 'and' ? filter.parts : [filter];
  return parts.flatMap(separated).map(shortCondition);
}

/** A plain stream selector as one selector for each of its matchers. */
function separated(filter: LogsqlFilter): readonly LogsqlFilter[] {
  const [group, another] = filter.kind === 'stream' ? filter.groups : [];
  return group === undefined || another !== undefined || group.length < 2 ? [filter] : group.map(selecting);
}

function selecting(matcher: StreamMatcher): LogsqlFilter {
  return { kind: 'stream', groups: [[matcher]] };
}

function shortCondition(filter: LogsqlFilter): ShortCondition {
  const isNegated = filter.kind === 'not';
  const comparisons = comparisonsIn(isNegated ? filter.filter : filter);
  const [first] = comparisons ?? [];
  const fields = new Set(comparisons?.map(({ field }) => field));
  if (first === undefined || fields.size < 2 || comparisons?.some(({ shape }) => shape !== first.shape))
    return { text: printFilter(filter), fields: [] };
  return { text: printFilter(isNegated ? not(first.filter) : first.filter), fields: [...fields] };
}

/** A comparison with a value other than the empty text. */
interface Comparison {
  readonly field: string;
  readonly filter: LogsqlFilter;
  /** The comparison as text, without the name of its field. */
  readonly shape: string;
}

/** The comparisons in a filter besides those with the empty text; undefined if it has other conditions. */
function comparisonsIn(filter: LogsqlFilter): readonly Comparison[] | undefined {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return joined(filter.parts.map(comparisonsIn));
    case 'not':
      return comparisonsIn(filter.filter)?.length === 0 ? [] : undefined;
    case 'stream':
      return filter.groups.flat().filter(hasValue).map(ofMatcher);
    case 'field': {
      const { field, test } = filter;
      if (field.kind !== 'name') return undefined;
      if ((test.kind === 'exact' || test.kind === 'prefix') && test.text === '') return [];
      const shape = printFilter({ ...filter, field: { kind: 'name', name: 'field' } });
      return [{ field: field.name, filter, shape }];
    }
    case 'all':
    case 'time':
    case 'time-relative':
      return undefined;
  }
}

function joined(all: readonly (readonly Comparison[] | undefined)[]): readonly Comparison[] | undefined {
  const known = all.filter((one) => one !== undefined);
  return known.length < all.length ? undefined : known.flat();
}

function hasValue(matcher: StreamMatcher): boolean {
  return matcher.kind === 'list' || matcher.value !== '' || matcher.op.includes('~');
}

function ofMatcher(matcher: StreamMatcher): Comparison {
  const shape = printFilter(selecting({ ...matcher, label: 'label' }));
  return { field: matcher.label, filter: selecting(matcher), shape };
}
