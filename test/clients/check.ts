import { isDeepStrictEqual } from 'node:util';

/** A client would fail: the message has the actual and the expected value. */
export class ClientFailure extends Error {}

/** Fails unless both values are deeply equal. */
export function same(actual: unknown, wanted: unknown, what: string): void {
  if (isDeepStrictEqual(actual, wanted)) return;
  if (Array.isArray(actual) && Array.isArray(wanted) && actual.length + wanted.length > 8) {
    // For long lists, the first difference is the most useful detail.
    const [got, want]: readonly (readonly unknown[])[] = [actual, wanted];
    const at = (got ?? []).findIndex((item, index) => !isDeepStrictEqual(item, want?.[index]));
    const place = at === -1 ? Math.min(actual.length, wanted.length) : at;
    const sizes = `${actual.length} of ${wanted.length} items, item ${place}`;
    throw new ClientFailure(`${what}: ${sizes}: got ${show(got?.[place])}, wanted ${show(want?.[place])}`);
  }
  throw new ClientFailure(`${what}: got ${show(actual)}, wanted ${show(wanted)}`);
}

/** Fails unless the condition holds. */
export function holds(condition: boolean, what: string): asserts condition {
  if (!condition) throw new ClientFailure(what);
}

/** Returns the value; fails if it is missing. */
export function present<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new ClientFailure(`missing: ${what}`);
  return value;
}

/** The members of a JSON object by name; fails for any other value. */
export function members(value: unknown, what: string): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ClientFailure(`${what} is not an object: ${show(value)}`);
  }
  return new Map(Object.entries(value));
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ClientFailure(`${what} is not a list: ${show(value)}`);
  return value;
}

export function strings(value: unknown, what: string): readonly string[] {
  return list(value, what).map((item) => text(item, what));
}

export function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new ClientFailure(`${what} is not a string: ${show(value)}`);
  return value;
}

export function number(value: unknown, what: string): number {
  if (typeof value !== 'number') throw new ClientFailure(`${what} is not a number: ${show(value)}`);
  return value;
}

/** An object whose values are strings, as a Map. */
export function stringMap(value: unknown, what: string): ReadonlyMap<string, string> {
  return new Map([...members(value, what)].map(([name, item]) => [name, text(item, `${what}.${name}`)]));
}

export function json(body: string, what: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new ClientFailure(`${what} is not JSON: ${body.slice(0, 200)}`);
  }
}

function show(value: unknown): string {
  const shown = JSON.stringify(value, (_key, item: unknown) => {
    if (item instanceof Map) return [...(item as ReadonlyMap<unknown, unknown>)];
    return typeof item === 'bigint' ? String(item) : item;
  });
  const full = shown as string | undefined;
  return full === undefined ? 'undefined' : full.length > 600 ? `${full.slice(0, 600)}...` : full;
}
