import type { ArgNode } from '../ast.js';
import type { ParameterType } from '../library/types.js';
import type { GoValue } from '../values/value.js';
import type { Run } from './run.js';

/** Stands for "no value comes through the pipe". */
export const missing = Symbol('missing');

export type Piped = GoValue | typeof missing;
/** Gives a value; dot is what `.` stands for. */
export type Evaluate = (run: Run, dot: GoValue) => GoValue;
/** Gives the value of a command that may take the one before it as its last argument. */
export type EvaluateCommand = (run: Run, dot: GoValue, piped: Piped) => GoValue;
/** Gives an argument of a function, checked against the parameter's type. */
export type CompileArgument = (node: ArgNode, type: ParameterType) => Evaluate;
