/**
 * Keys made of all fields of an object. A table says for each field how it is written or why it is left out, so that a field that
 * the table does not name is a type error. Two objects have the same key only when the fields written are equal.
 */
import { escapeText } from './escape.js';

type Scalar = string | number | bigint | boolean;
/** Told by its text alone. */
interface HasText {
  readonly text: string;
}
/** What is written as one; every other object is written field by field. */
export type Whole = Scalar | HasText | readonly unknown[] | ReadonlyMap<unknown, unknown>;

/** A field that two objects with the same key may differ in. */
export class LeftOut {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Writes one field; what is undefined is not written. */
type Write<Value> = (value: Value) => string | undefined;

type KeyPart<Value> =
  LeftOut | ([NonNullable<Value>] extends [Whole] ? Write<Value> : KeyParts<NonNullable<Value>>);

/** How each field of an object enters its key. */
export type KeyParts<Fields> = { readonly [Name in keyof Fields]-?: KeyPart<Fields[Name]> };

export function leftOut(reason: string): LeftOut {
  return new LeftOut(reason);
}

export function scalar(value: Scalar | undefined): string | undefined {
  return typeof value === 'string' ? escapeText(value) : value?.toString();
}

export function text(value: HasText | undefined): string | undefined {
  return value === undefined ? undefined : escapeText(value.text);
}

/** Each value is ended by a comma: no value and one empty value are different lists. */
export function inOrder(values: readonly string[]): string {
  return values.map((value) => `${escapeText(value)},`).join('');
}

/** `name=value&name=value`, in the order of the table; the fields of an object within it stand in parentheses. */
export function keyOf<Fields extends object>(parts: KeyParts<Fields>, fields: Fields): string {
  const written: string[] = [];
  for (const [name, part] of Object.entries<AnyPart>(parts)) {
    const value = write(part, (fields as Readonly<Record<string, unknown>>)[name]);
    if (value !== undefined) written.push(`${name}=${value}`);
  }
  return written.join('&');
}

/** A part whose field is no longer known; the table holds the two together. */
type AnyPart = LeftOut | ((value: never) => string | undefined) | object;

function write(part: AnyPart, value: unknown): string | undefined {
  if (part instanceof LeftOut) return undefined;
  if (typeof part === 'function') return (part as Write<unknown>)(value);
  return value === undefined ? undefined : `(${keyOf(part, value as object)})`;
}
