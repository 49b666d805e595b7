import type { Method } from '../library/methods.js';
import { GoError, type GoFunction, type ParameterType } from '../library/types.js';
import { concrete, isTrue, typeName, type GoValue } from '../values.js';
import { checkedArgument, type TemplateRun } from './run.js';
import { exceeded, formatLimits } from './limits.js';
import { argumentSource, type Place } from './place.js';
import type { ArgNode } from '../ast.js';

interface CallSite {
  readonly name: string;
  /** The position for error texts. */
  readonly place: Place;
  readonly args: readonly ArgNode[];
  /** Undefined for `call`. */
  readonly known: Method | undefined;
  readonly compileArgument: CompileArgument;
}

/** Compiles the call of a function or method, including checks of the number and types of arguments. */
export function compileCall(site: CallSite): EvaluateCommand {
  const { known } = site;
  if (known === undefined) return compileCallOfValue(site);
  if ('refused' in known) return (run) => run.fail(known.refused);
  const { name, place, args, compileArgument } = site;
  const { parameters, rest } = known;
  const typeAt = (index: number): ParameterType => parameters[index] ?? rest ?? 'any';
  const evaluators = args.map((arg, index) => compileArgument(arg, typeAt(index)));
  const { shortCircuit } = known;
  if (shortCircuit !== undefined) return compileShortCircuit(site, evaluators, shortCircuit);
  const finalType = typeAt(args.length);
  return (run, dot, piped) => {
    checkCount(run, name, known, args.length, piped);
    const values: GoValue[] = [];
    for (const evaluate of evaluators) values.push(evaluate(run, dot));
    if (piped !== missing) values.push(checkedArgument(run, piped, finalType));
    return invoke(run, known, values, name, place);
  };
}

function checkCount(run: TemplateRun, name: string, known: GoFunction, written: number, piped: Piped): void {
  const given = piped === missing ? written : written + 1;
  const wanted = known.parameters.length;
  if (known.rest === undefined) {
    if (given === wanted) return;
    run.fail(`wrong number of args for ${name}: want ${String(wanted)} got ${String(given)}`);
  } else if (given < wanted) {
    run.fail(`wrong number of args for ${name}: want at least ${String(wanted)} got ${String(written)}`);
  }
}

/** Printing the contents of decoded JSON costs this many times more than copying a text. */
const textPerStepOfParts = 2;

function invoke(
  run: TemplateRun,
  known: GoFunction,
  values: readonly GoValue[],
  name: string,
  place: Place,
): GoValue {
  const hasParts = chargeArguments(run, known, values);
  try {
    const result = known.call(values, run);
    if (typeof result !== 'string') return result;
    if (result.length > formatLimits.functionOutput) exceeded(known.outputLimit ?? 'function output');
    if (hasParts) run.charge(result.length / textPerStepOfParts);
    else run.chargeText(result.length * (known.weight ?? 1));
    return result;
  } catch (error) {
    if (!(error instanceof GoError)) throw error;
    run.at = place;
    return run.fail(`error calling ${name}: ${error.message}`);
  }
}

/** True when the arguments contain maps or slices. */
function chargeArguments(
  run: TemplateRun,
  { inputLimit, weight = 1, stepsPerArgument = 0 }: GoFunction,
  values: readonly GoValue[],
): boolean {
  let length = 0;
  let hasParts = false;
  for (const value of values) {
    const inner = concrete(value);
    if (typeof inner === 'string') length += inner.length;
    else if (typeof inner === 'object' && (inner.kind === 'map' || inner.kind === 'slice')) hasParts = true;
  }
  const isTooMuch = values.length > formatLimits.arguments || length > formatLimits.argumentData;
  if (isTooMuch) exceeded(inputLimit ?? 'function input');
  run.chargeText(length * weight);
  if (stepsPerArgument > 0) run.charge(stepsPerArgument * values.length);
  return hasParts;
}

/** `and` and `or` return the argument that decides, and evaluate none after it. */
function compileShortCircuit(
  { name, args, known }: CallSite,
  evaluators: readonly Evaluate[],
  word: 'and' | 'or',
): EvaluateCommand {
  return (run, dot, piped) => {
    if (known !== undefined && !('refused' in known)) checkCount(run, name, known, args.length, piped);
    let value: GoValue;
    for (const evaluate of evaluators) {
      value = evaluate(run, dot);
      if (isTrue(value) === (word === 'or')) return value;
    }
    return piped === missing ? value : piped;
  };
}

/** `call x` calls the function x, but no value here is a function. */
function compileCallOfValue({ name, place, args, compileArgument }: CallSite): EvaluateCommand {
  const evaluators = args.map((arg) => compileArgument(arg, 'value'));
  const [first] = args;
  return (run, dot, piped) => {
    if (first === undefined && piped === missing)
      run.fail(`wrong number of args for ${name}: want at least 1 got 0`);
    const [called = piped === missing ? undefined : piped] = evaluators.map((evaluate) => evaluate(run, dot));
    const value = concrete(called);
    run.at = place;
    if (value === undefined) return run.fail(`error calling ${name}: call of nil`);
    const type = typeName(value);
    const text = typeof value === 'string' ? value : `<${type} Value>`;
    const shown = first === undefined ? text : argumentSource(first);
    return run.fail(`error calling ${name}: non-function ${shown} of type ${type}`);
  };
}

/** Marks that no value comes through the pipe. */
export const missing = Symbol('missing');

export type Piped = GoValue | typeof missing;
/** Computes a value; `dot` is the value of `.`. */
export type Evaluate = (run: TemplateRun, dot: GoValue) => GoValue;
/** Computes the value of a command that may take the previous one's as its last argument. */
export type EvaluateCommand = (run: TemplateRun, dot: GoValue, piped: Piped) => GoValue;
/** Compiles an argument of a function, checked against the parameter's type. */
export type CompileArgument = (node: ArgNode, type: ParameterType) => Evaluate;
