import { textOrder } from '../base/order.js';

/** JSON of unknown structure: a missing or mistyped member reads as empty. */
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

/** JSON with the keys of all objects sorted, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null)
    return value === undefined ? 'undefined' : JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => textOrder(a, b));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}
