import type { GoTime } from './time/go-time.js';
import { minInt64 } from '../../base/time/index.js';
import { compareGoStrings } from '../values/raw-bytes.js';

/**
 * The values of templates. Strings, floats and booleans are JavaScript's; `undefined` is Go's invalid value (for example a missing key of
 * decoded JSON). Strings may contain bytes that are not UTF-8, see strings/raw-bytes.ts.
 */
export type GoValue =
  undefined | string | number | boolean | GoInt | GoComplex | GoTime | GoMap | GoSlice | GoInterface;

export type IntType = 'int' | 'int64' | 'uint8' | 'time.Duration' | 'time.Month' | 'time.Weekday';

/** An integer of one of Go's types, within its range. */
export class GoInt {
  readonly kind = 'int';
  readonly value: bigint;
  readonly type: IntType;

  constructor(value: bigint, type: IntType = 'int') {
    this.value = value;
    this.type = type;
  }
}

export class GoComplex {
  readonly kind = 'complex';
  readonly real: number;
  readonly imaginary: number;

  constructor(real: number, imaginary: number) {
    this.real = real;
    this.imaginary = imaginary;
  }
}

/** The labels (map[string]string) or an object of decoded JSON (map[string]interface {}). */
export interface GoMap {
  readonly kind: 'map';
  readonly type: 'map[string]string' | 'map[string]interface {}';
  readonly size: number;
  /** The element as Go returns it: of an interface type for decoded JSON; undefined for a missing key. */
  get(key: string): GoValue;
  /** In byte order of the keys. */
  sorted(): readonly (readonly [key: string, value: GoValue])[];
}

/** An array of decoded JSON, []interface {}. */
export class GoSlice {
  readonly kind = 'slice';
  readonly items: readonly GoInterface[];
  /** Items within Go's capacity, which slicing may reach. */
  readonly backing: readonly GoInterface[];
  readonly start: number;

  constructor(backing: readonly GoInterface[], start = 0, end = backing.length, capEnd = backing.length) {
    this.backing = capEnd === backing.length ? backing : backing.slice(0, capEnd);
    this.start = start;
    this.items = start === 0 && end === backing.length ? backing : backing.slice(start, end);
  }

  get capacity(): number {
    return this.backing.length - this.start;
  }
}

/** An element of type interface {}, as ranges, indexes and fields of decoded JSON return it; undefined inside is nil. */
export class GoInterface {
  readonly kind = 'interface';
  readonly value: Concrete;

  constructor(value: Concrete) {
    this.value = value;
  }
}

export type Concrete = Exclude<GoValue, GoInterface>;

export const nilInterface = new GoInterface(undefined);

/** The value inside an interface, or the value itself. */
export function concrete(value: GoValue): Concrete {
  return value instanceof GoInterface ? value.value : value;
}

/** Go's name of the type; for an interface, that of its content. */
export function typeName(value: Concrete): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'undefined':
      return '<nil>';
    case 'object':
      switch (value.kind) {
        case 'int':
        case 'map':
          return value.type;
        case 'complex':
          return 'complex128';
        case 'time':
          return 'time.Time';
        case 'slice':
          return '[]interface {}';
      }
  }
}

/** The declared type: an element of decoded JSON is an interface {}. */
export function staticTypeName(value: GoValue): string {
  return value instanceof GoInterface ? 'interface {}' : typeName(value);
}

/** True if `if`, `with`, `and`, `or` and `not` treat the value as true: anything but the zero value of its type. */
export function isTrue(boxed: GoValue): boolean {
  const value = concrete(boxed);
  switch (typeof value) {
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'boolean':
      return value;
    case 'undefined':
      return false;
    case 'object':
      switch (value.kind) {
        case 'int':
          return value.value !== 0n;
        case 'complex':
          return value.real !== 0 || value.imaginary !== 0;
        case 'time':
          return true;
        case 'map':
          return value.size > 0;
        case 'slice':
          return value.items.length > 0;
      }
  }
}

const kept: readonly GoInt[] = Array.from({ length: 1024 }, (_unused, index) => new GoInt(BigInt(index)));

/** A Go int from a small whole number such as a length or an index. */
export function smallInt(value: number): GoInt {
  return kept[value] ?? new GoInt(BigInt(value));
}

/** Wraps to 64 bits as Go's arithmetic does. */
export function wrapInt(value: bigint, type: IntType): GoInt {
  return new GoInt(BigInt.asIntN(64, value), type);
}

/** A float as an integer: truncated, or the smallest integer when it does not fit, as on amd64. */
export function floatToInt64(value: number): bigint {
  const whole = Math.trunc(value);
  return whole >= -(2 ** 63) && whole < 2 ** 63 ? BigInt(whole) : minInt64;
}

type Entries = readonly (readonly [key: string, value: GoValue])[];

/** An object of decoded JSON. */
export class JsonMap implements GoMap {
  readonly kind = 'map';
  readonly type = 'map[string]interface {}';
  readonly #items: ReadonlyMap<string, GoInterface>;

  constructor(items: ReadonlyMap<string, GoInterface>) {
    this.#items = items;
  }

  get size(): number {
    return this.#items.size;
  }

  get(key: string): GoValue {
    return this.#items.get(key);
  }

  sorted(): Entries {
    return sortByKey([...this.#items]);
  }
}

/** Reads one label; undefined for none. */
export type GetLabel = (name: string) => string | undefined;

/** All labels, for templates that use the dot as a whole. */
export type ListLabels = () => Iterable<readonly [name: string, value: string]>;

/** The labels of a line. They are only collected if a template uses all of them. */
export class LabelMap implements GoMap {
  readonly kind = 'map';
  readonly type = 'map[string]string';
  readonly get: GetLabel;
  readonly #list: ListLabels;
  #sorted: Entries | undefined;

  constructor(get: GetLabel, list: ListLabels) {
    this.get = get;
    this.#list = list;
  }

  get size(): number {
    return this.sorted().length;
  }

  sorted(): Entries {
    this.#sorted ??= sortByKey([...this.#list()]);
    return this.#sorted;
  }
}

function sortByKey(entries: (readonly [string, GoValue])[]): Entries {
  return entries.sort(([a], [b]) => compareGoStrings(a, b));
}
