/** The first part of two answers that is not equal. */
export interface Difference {
  readonly kind: DifferenceKind;
  /** Labels of the series or stream, or the name of the field, that differs; undefined where the whole answer does. */
  readonly where?: string;
  /** Values of both sides, shortened to a few hundred characters. */
  readonly reference: string;
  readonly candidate: string;
}

export type DifferenceKind =
  | 'status'
  | 'error text'
  | 'result type'
  | 'encoding flags'
  | 'warnings'
  | 'series'
  | 'streams'
  | 'number of points'
  | 'value'
  | 'order'
  | 'number of entries'
  | 'entry'
  | 'list'
  | 'field'
  | 'volume'
  | 'statistics'
  | 'patterns'
  | 'query text'
  | 'members';

const maxShown = 3;
const maxText = 400;

/** A difference, with long values shortened. */
export function differing(
  kind: DifferenceKind,
  reference: string,
  candidate: string,
  where?: string,
): Difference {
  const place = where === undefined ? {} : { where: shortened(where) };
  return { kind, ...place, reference: shortened(reference), candidate: shortened(candidate) };
}

/** Items that only one of two lists has, or has more often; undefined where there are none. The order does not count. */
export function listDifference(
  kind: DifferenceKind,
  reference: readonly string[],
  candidate: readonly string[],
): Difference | undefined {
  const surplus = new Map<string, number>();
  for (const item of reference) surplus.set(item, (surplus.get(item) ?? 0) + 1);
  for (const item of candidate) surplus.set(item, (surplus.get(item) ?? 0) - 1);
  const missing: string[] = [];
  const extra: string[] = [];
  for (const [item, count] of surplus) if (count !== 0) (count > 0 ? missing : extra).push(item);
  if (missing.length + extra.length === 0) return undefined;
  return differing(kind, onlyHere(missing), onlyHere(extra));
}

/** The text of a list difference on a side that has nothing more than the other. */
export const nothingMore = 'nothing more';

function onlyHere(items: readonly string[]): string {
  if (items.length === 0) return nothingMore;
  const shown = items.slice(0, maxShown).map(shortened);
  return `${items.length} more: ${shown.join(' ; ')}${items.length > maxShown ? ' ; ...' : ''}`;
}

/** A difference on one line. */
export function differenceText({ kind, where, reference, candidate }: Difference): string {
  return `${kind}${where === undefined ? '' : ` in ${where}`}: ${candidate} | reference: ${reference}`;
}

function shortened(text: string): string {
  return text.length <= maxText ? text : `${text.slice(0, maxText)}...`;
}
