import { addToHash, hashSeed } from './slot.js';
import { jsonFaults, type JsonReader } from './json-value.js';

const quote = 0x22;
const closeBrace = 0x7d;
const openBrace = 0x7b;
const colon = 0x3a;
const comma = 0x2c;

/** Results of reading an object, and whether to continue. */
export const goesOn = 0;
/** Nothing more is needed from the line. */
export const isDone = 1;
/** The object is invalid; the reader's `fault` has the reason. */
export const isFaulty = 2;
/** The line is dropped. */
export const isDropped = 3;
export type FieldOutcome = typeof goesOn | typeof isDone | typeof isFaulty | typeof isDropped;

/** Called for every field in order. */
export interface FieldVisitor<Key> {
  /** The visitor's entry for a key, given as offsets and hash, in the object of `parent`; undefined if it has an invalid escape. */
  key(from: number, to: number, hash: number, parent: Key | undefined): Key | undefined;
  /** Called with the field's value in the reader. */
  field(key: Key, depth: number): FieldOutcome;
}

/**
 * Reads the fields of the object that should start at an offset. Fields before an error have been visited. A comma after the last field,
 * and text after the object, are not errors.
 */
export function readFields<Key>(
  reader: JsonReader,
  from: number,
  limit: number,
  visitor: FieldVisitor<Key>,
  parent: Key | undefined,
  depth: number,
): FieldOutcome {
  const { line } = reader;
  let at = reader.skipSpace(from, limit);
  if (at < 0 || line.charCodeAt(at) !== openBrace) return fail(reader, jsonFaults.object);
  at = reader.skipSpace(at + 1, limit);
  if (at < 0) return fail(reader, jsonFaults.json);
  for (;;) {
    const unit = line.charCodeAt(at);
    if (unit === closeBrace) return goesOn;
    if (unit !== quote) return fail(reader, jsonFaults.object);
    const keyFrom = at + 1;
    const keyTo = reader.stringEnd(keyFrom, limit);
    if (keyTo < 0) return fail(reader, jsonFaults.json);
    let hash = hashSeed;
    for (let place = keyFrom; place < keyTo; place += 1) hash = addToHash(hash, line.charCodeAt(place));
    const key = visitor.key(keyFrom, keyTo, hash, parent);
    if (key === undefined) return fail(reader, jsonFaults.escape);
    at = reader.skipSpace(keyTo + 1, limit);
    if (at < 0 || line.charCodeAt(at) !== colon) return fail(reader, jsonFaults.json);
    if (!reader.read(at + 1, limit)) return isFaulty;
    const { next } = reader;
    const outcome = visitor.field(key, depth);
    if (outcome !== goesOn) return outcome;
    at = reader.skipSpace(next, limit);
    if (at < 0) return fail(reader, jsonFaults.array);
    const separator = line.charCodeAt(at);
    if (separator === closeBrace) return goesOn;
    if (separator !== comma) return fail(reader, jsonFaults.object);
    at = reader.skipSpace(at + 1, limit);
    if (at < 0) return fail(reader, jsonFaults.array);
  }
}

function fail(reader: JsonReader, fault: string): FieldOutcome {
  reader.fault = fault;
  return isFaulty;
}
