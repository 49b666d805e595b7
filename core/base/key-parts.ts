import { ofKey } from './memory/byte-lru.js';
import type { Tenant } from './caller.js';

const plain = /^[A-Za-z0-9_-]*$/;

/** Percent-encodes everything but letters, digits, `_` and `-`; different texts stay different. */
export function escapeText(text: string): string {
  if (plain.test(text)) return text;
  try {
    // encodeURIComponent does not encode these.
    return encodeURIComponent(text).replace(/[.!~*'()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  } catch {
    // An unpaired surrogate has no UTF-8 form. encodeURIComponent never writes %u, so this cannot collide.
    return text.replace(/[^A-Za-z0-9_-]/g, (unit) => `%u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }
}

// Cache keys made from the fields of an object. A table says for each field how it is written or why it is left out; a field missing from
// the table is a type error. Two objects have the same key exactly when all fields that are written are equal.

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
  return ofKey(known, parts, () =>
    Object.entries(parts as Readonly<Record<string, AnyPart>>).flatMap(([name, part]) =>
      part instanceof LeftOut ? [] : [{ name, write: writeOf(part) }],
    ),
  );
}

/** A part without the type of its field; KeyParts has checked that they match. */
type AnyPart = LeftOut | ((value: never) => string | undefined) | object;

function writeOf(part: Exclude<AnyPart, LeftOut>): Write<unknown> {
  if (typeof part === 'function') return part as Write<unknown>;
  return (value) => (value === undefined ? undefined : `(${keyOf(part, value as object)})`);
}

/** Includes account and project, because a reload of the tenant map can point the same id to other data. */
export const tenantKey: KeyParts<Tenant> = {
  id: scalar,
  accountId: scalar,
  projectId: scalar,
  streamField: scalar,
  forwardHeader: scalar,
  mapping: (mapping) => (mapping === '' ? undefined : scalar(mapping)),
  limitIds: leftOut('limits only refuse requests, and refusals are not cached'),
  oldestNs: leftOut('moves with the clock, so no key would ever repeat; answers expire instead'),
  hasNoData: leftOut('such tenants have account -1'),
};

const credentialsPart = '&credentials=';

/** True if the data may depend on credentials that the caller sends to the backend. */
export function hasCredentials(owner: string): boolean {
  return owner.includes(credentialsPart);
}

/** The common prefix of all owners of a tenant. */
export function ownersOfTenant(id: string): string {
  return `${keyOf({ id: scalar }, { id })}&`;
}

/**
 * Identifies the data that a tenant sees in the backend.
 * @param credentials a fingerprint of the credentials sent to the backend, if its data may depend on them
 */
export function dataOwner(tenant: Tenant, credentials = ''): string {
  const owner = keyOf(tenantKey, tenant);
  return credentials === '' ? owner : `${owner}${credentialsPart}${scalar(credentials)}`;
}
