import type { GoTime } from '../time/go-time.js';

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

/** Whether if, with, and, or and not treat the value as true: anything but the zero value of its type. */
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
