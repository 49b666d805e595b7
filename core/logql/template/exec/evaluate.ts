import type { ArgNode } from '../ast.js';
import type { ParameterType } from '../library/types.js';
import type { GoValue } from '../values/value.js';
import type { TemplateRun } from './run.js';

/** Means that no value comes through the pipe. */
export const missing = Symbol('missing');

export type Piped = GoValue | typeof missing;
/** Computes a value; `dot` is the value of `.`. */
export type Evaluate = (run: TemplateRun, dot: GoValue) => GoValue;
/** Computes the value of a command that may take the previous one's as its last argument. */
export type EvaluateCommand = (run: TemplateRun, dot: GoValue, piped: Piped) => GoValue;
/** Compiles an argument of a function, checked against the parameter's type. */
export type CompileArgument = (node: ArgNode, type: ParameterType) => Evaluate;
