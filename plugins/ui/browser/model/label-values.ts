/** A value with the number of its lines, or its bytes; undefined where that is not known. */
export interface CountedValue {
  readonly value: string;
  readonly count: number | undefined;
}

/** All values of a label: those with volumes first, greatest first, then the others by name. Chosen ones are listed even if they are gone. */
export function mergedValues(
  values: readonly string[],
  counted: readonly CountedValue[],
  chosen: readonly string[],
): readonly CountedValue[] {
  const counts = new Map(counted.map(({ value, count }) => [value, count]));
  const all = [...new Set([...values, ...chosen])].map((value) => ({ value, count: counts.get(value) }));
  return all.sort((a, b) => (b.count ?? -1) - (a.count ?? -1) || (a.value < b.value ? -1 : 1));
}

/** The label to divide volumes by: the service or the first one that the selector has not fixed to one value. */
export function nextLabel(
  labels: readonly string[],
  chosen: readonly { readonly name: string; readonly values: readonly string[] }[],
): string {
  const isOpen = (name: string): boolean =>
    !chosen.some((label) => label.name === name && label.values.length === 1);
  const open = labels.filter(isOpen);
  return open.find((name) => name === 'service_name') ?? open[0] ?? labels[0] ?? '';
}
