import type { GoTime } from '../time/go-time.js';
import { GoInt, type GoMap, type GoValue } from '../values/value.js';

/** Go's types of parameters; `value` takes anything as it is, `any` takes what is inside of an interface. */
export type ParameterType = 'string' | 'int' | 'float64' | 'time.Time' | 'time.Duration' | 'any' | 'value';

/** What a function may know of the line that is being formatted, and the account of its work. */
export interface CallContext {
  readonly line: string;
  readonly timestampNs: bigint;
  readonly labels: GoMap;
  /** Counts work that the sizes of arguments do not show, in steps. */
  charge(steps: number): void;
  /** Tells what takes long before it is done: in nanoseconds, as far as it can be told. */
  chargeTime(nanoseconds: number): void;
  /** To be called between parts of what takes a time that cannot be told. */
  tick(): void;
}

/** A function or method that templates call. */
export interface GoFunction {
  readonly parameters: readonly ParameterType[];
  /** The type of further arguments, of which there may be any number. */
  readonly rest?: ParameterType;
  /** How many times more work a character of the arguments and the result is than copying it. */
  readonly weight?: number;
  /** Steps that each argument takes besides. */
  readonly stepsPerArgument?: number;
  /** `and` and `or` stop at the argument that decides; all others get all. */
  readonly shortCircuit?: 'and' | 'or';
  /** Which limit arguments that are too large or too many go beyond; of functions without one `function input`. */
  readonly inputLimit?: 'print input' | 'printf';
  /** The same for the result; of functions without one `function output`. */
  readonly outputLimit?: 'replacement' | 'printf' | 'print input';
  /** Arguments have the types of the parameters. */
  readonly call: (args: readonly GoValue[], context: CallContext) => GoValue;
}

/** An error that a function gives, as Go's text; the template ends there. */
export class GoError extends Error {
  override readonly name = 'GoError';
}

/** A panic of Go's runtime. */
export function runtimeError(text: string): GoError {
  return new GoError(`runtime error: ${text}`);
}

/** A string argument: the caller has checked the type. */
export function text(value: GoValue): string {
  if (typeof value === 'string') return value;
  throw new TypeError('not a string');
}

export function int(value: GoValue): bigint {
  if (value instanceof GoInt) return value.value;
  throw new TypeError('not an int');
}

/** An int argument for lengths and places; numbers far beyond any length lose their last digits. */
export function size(value: GoValue): number {
  return Number(int(value));
}

export function time(value: GoValue): GoTime {
  if (typeof value === 'object' && value.kind === 'time') return value;
  throw new TypeError('not a time');
}

/** A function of one text. */
export function ofText(apply: (subject: string) => GoValue, weight = 1): GoFunction {
  return { parameters: ['string'], weight, call: ([subject]) => apply(text(subject)) };
}

/** A function of two texts. */
export function ofTexts(apply: (first: string, second: string) => GoValue, weight = 1): GoFunction {
  return {
    parameters: ['string', 'string'],
    weight,
    call: ([first, second]) => apply(text(first), text(second)),
  };
}

/** A function of a count and a text. */
export function ofCount(apply: (count: number, subject: string) => GoValue, weight = 1): GoFunction {
  return {
    parameters: ['int', 'string'],
    weight,
    call: ([count, subject]) => apply(size(count), text(subject)),
  };
}
