import type { ParameterType } from '../library/types.js';
import {
  concrete,
  GoInterface,
  staticTypeName,
  typeName,
  type Concrete,
  type GoValue,
} from '../values/value.js';
import type { TemplateRun } from './run.js';

export function typeText(type: ParameterType): string {
  if (type === 'any') return 'interface {}';
  return type === 'value' ? 'reflect.Value' : type;
}

/** Checks that a value fits a parameter type, and converts it for the function. */
export function checkedArgument(run: TemplateRun, value: GoValue, type: ParameterType): GoValue {
  if (type === 'value') return value;
  if (type === 'any') return concrete(value);
  if (value === undefined) return run.fail(`invalid value; expected ${type}`);
  const inner = concrete(value);
  if (inner !== undefined && fits(inner, type)) return inner;
  const shown = inner === undefined ? staticTypeName(value) : typeName(inner);
  return run.fail(`wrong type for value; expected ${type}; got ${shown}`);
}

function fits(value: Concrete, type: Exclude<ParameterType, 'any' | 'value'>): boolean {
  return typeName(value) === type;
}

/** Whether a value is nil inside an interface. */
export function isNilInterface(value: GoValue): boolean {
  return value instanceof GoInterface && value.value === undefined;
}
