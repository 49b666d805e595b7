/** Reading of JSON whose shape is not known: a missing or wrong part reads as empty. */
export type Json = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): Json {
  // Checked to be an object that is no array; its members stay unknown.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === 'string'
    ? value
    : value === undefined || value === null
      ? ''
      : JSON.stringify(value);
}

/** JSON with the keys of all objects sorted: equal texts for equal values. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null)
    return value === undefined ? 'undefined' : JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}

/** What one list has more than another, as text. */
export function setDifference(wanted: readonly string[], got: readonly string[]): string | undefined {
  const missing = wanted.filter((item) => !got.includes(item));
  const extra = got.filter((item) => !wanted.includes(item));
  const repeated = got.filter((item, index) => got.indexOf(item) !== index);
  if (missing.length + extra.length + repeated.length === 0) return undefined;
  return `missing ${shown(missing)} extra ${shown(extra)} repeated ${shown(repeated)}`;
}

function shown(items: readonly string[]): string {
  return `${items.length}[${items.slice(0, 3).join(' ; ')}]`;
}
