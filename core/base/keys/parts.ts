/**
 * Cache keys made from the fields of an object. A table says for each field how it is written or why it is left out; a field missing from
 * the table is a type error. Two objects have the same key exactly when all fields that are written are equal.
 */
import { escapeText } from './escape.js';

type Scalar = string | number | bigint | boolean;
/** An object identified by its text. */
interface HasText {
  readonly text: string;
}
/** Values that a single function writes; any other object is written field by field, by a table of its own. */
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

/** Tells for each field of an object how it is written. */
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
  let key = '';
  for (const { name, write } of writersOf(parts)) {
    const value = write((fields as Readonly<Record<string, unknown>>)[name]);
    if (value !== undefined) key += key === '' ? `${name}=${value}` : `&${name}=${value}`;
  }
  return key;
}

interface Writer {
  readonly name: string;
  readonly write: Write<unknown>;
}

/** Keys are made for every request and tables are few, so each table is compiled once. */
const known = new WeakMap<object, readonly Writer[]>();

function writersOf(parts: object): readonly Writer[] {
  let writers = known.get(parts);
  if (writers === undefined) {
    writers = Object.entries(parts as Readonly<Record<string, AnyPart>>).flatMap(([name, part]) =>
      part instanceof LeftOut ? [] : [{ name, write: writeOf(part) }],
    );
    known.set(parts, writers);
  }
  return writers;
}

/** A part without the type of its field; KeyParts has checked that they match. */
type AnyPart = LeftOut | ((value: never) => string | undefined) | object;

function writeOf(part: Exclude<AnyPart, LeftOut>): Write<unknown> {
  if (typeof part === 'function') return part as Write<unknown>;
  return (value) => (value === undefined ? undefined : `(${keyOf(part, value as object)})`);
}
