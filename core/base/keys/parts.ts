/**
 * Keys made from the fields of an object. A table says for each field how it is written or why it is left out; a field missing from
 * the table is a type error. Two objects have the same key exactly when all fields that are written are equal.
 */
import { escapeText } from './escape.js';

type Scalar = string | number | bigint | boolean;
/** Identified by its text. */
interface HasText {
  readonly text: string;
}
/** Values that one function writes; any other object is written field by field, with a table of its own. */
export type Whole = Scalar | HasText | readonly unknown[] | ReadonlyMap<unknown, unknown>;

/** Marks a field that is not part of the key. */
export class LeftOut {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Writes the value of a field; undefined leaves it out. */
type Write<Value> = (value: Value) => string | undefined;

type KeyPart<Value> =
  LeftOut | ([NonNullable<Value>] extends [Whole] ? Write<Value> : KeyParts<NonNullable<Value>>);

/** How each field of an object is written. */
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

/** A comma after each value, so that an empty list differs from a list of one empty text. */
export function inOrder(values: readonly string[]): string {
  return values.map((value) => `${escapeText(value)},`).join('');
}

/** `name=value&name=value`, in the order of the table; the fields of a nested object are in parentheses. */
export function keyOf<Fields extends object>(parts: KeyParts<Fields>, fields: Fields): string {
  const written: string[] = [];
  for (const [name, part] of Object.entries<AnyPart>(parts)) {
    const value = write(part, (fields as Readonly<Record<string, unknown>>)[name]);
    if (value !== undefined) written.push(`${name}=${value}`);
  }
  return written.join('&');
}

/** A part without the type of its field; KeyParts has checked that they match. */
type AnyPart = LeftOut | ((value: never) => string | undefined) | object;

function write(part: AnyPart, value: unknown): string | undefined {
  if (part instanceof LeftOut) return undefined;
  if (typeof part === 'function') return (part as Write<unknown>)(value);
  return value === undefined ? undefined : `(${keyOf(part, value as object)})`;
}
