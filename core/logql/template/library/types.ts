import type { GoTime } from '../time/go-time.js';
import { GoInt, type GoValue } from '../values.js';

/** Go's parameter types; `value` accepts anything as it is, `any` the content of an interface. */
export type ParameterType = 'string' | 'int' | 'float64' | 'time.Time' | 'time.Duration' | 'any' | 'value';

/** Access of a function to the line being formatted, and the accounting of its work. */
export interface CallContext {
  readonly line: string;
  readonly timestampNs: bigint;
  /** Charges steps of work that the sizes of arguments do not show. */
  charge(steps: number): void;
  /** Announces long work in advance, as far as it can be estimated, in nanoseconds. */
  chargeTime(nanoseconds: number): void;
  /** Call this between parts of work that cannot be estimated. */
  tick(): void;
}

/** A function or method that templates call. */
export interface GoFunction {
  readonly parameters: readonly ParameterType[];
  /** Type of any further arguments. */
  readonly rest?: ParameterType;
  /** Work per character of the arguments and the result, relative to copying it. */
  readonly weight?: number;
  /** Additional steps per argument. */
  readonly stepsPerArgument?: number;
  /** `and` and `or` stop at the argument that decides; all other functions get all arguments. */
  readonly shortCircuit?: 'and' | 'or';
  /** The limit for too large or too many arguments; `function input` by default. */
  readonly inputLimit?: 'print input' | 'printf';
  /** The limit for the result; `function output` by default. */
  readonly outputLimit?: 'replacement' | 'printf' | 'print input';
  /** Calls the function; the arguments have the types of the parameters. */
  readonly call: (args: readonly GoValue[], context: CallContext) => GoValue;
}

/** An error returned by a function, with Go's text; it ends the template. */
export class GoError extends Error {
  override readonly name = 'GoError';
}

/** A panic of Go's runtime. */
export function runtimeError(text: string): GoError {
  return new GoError(`runtime error: ${text}`);
}

/** A string argument: the caller has checked the type. */
export function textArgument(value: GoValue): string {
  if (typeof value === 'string') return value;
  throw new TypeError('not a string');
}

export function int(value: GoValue): bigint {
  if (value instanceof GoInt) return value.value;
  throw new TypeError('not an int');
}

/** An int argument for lengths and offsets; numbers far beyond any length lose precision. */
export function size(value: GoValue): number {
  return Number(int(value));
}

export function time(value: GoValue): GoTime {
  if (typeof value === 'object' && value.kind === 'time') return value;
  throw new TypeError('not a time');
}

/** A function of one text. */
export function ofText(apply: (subject: string) => GoValue, weight = 1): GoFunction {
  return { parameters: ['string'], weight, call: ([subject]) => apply(textArgument(subject)) };
}

/** A function of two texts. */
export function ofTexts(apply: (first: string, second: string) => GoValue, weight = 1): GoFunction {
  return {
    parameters: ['string', 'string'],
    weight,
    call: ([first, second]) => apply(textArgument(first), textArgument(second)),
  };
}

/** A function of a count and a text. */
export function ofCount(apply: (count: number, subject: string) => GoValue, weight = 1): GoFunction {
  return {
    parameters: ['int', 'string'],
    weight,
    call: ([count, subject]) => apply(size(count), textArgument(subject)),
  };
}
