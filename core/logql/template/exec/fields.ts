import { methodOf, type Method } from '../library/methods.js';
import { GoTime } from '../time/go-time.js';
import { concrete, GoInt, nilInterface, staticTypeName, type GoMap, type GoValue } from '../values/value.js';
import { isNilInterface } from './check.js';
import type { TemplateRun } from './run.js';

const timeFields = new Set(['wall', 'ext', 'loc']);

/** `.name` of a value: an element of a map, or a method that is not called yet. */
export function fieldOf(
  run: TemplateRun,
  receiver: GoValue,
  name: string,
  hasArguments: boolean,
): { readonly value: GoValue } | { readonly method: Method } {
  if (receiver === undefined) return { value: undefined };
  const type = staticTypeName(receiver);
  if (isNilInterface(receiver)) return run.fail(`nil pointer evaluating ${type}.${name}`);
  const value = concrete(receiver);
  if (value instanceof GoTime || value instanceof GoInt) {
    const method = methodOf(value, name);
    if (method !== undefined) return { method };
    if (value instanceof GoTime && timeFields.has(name)) {
      return run.fail(`${name} is an unexported field of struct type ${type}`);
    }
  }
  if (typeof value === 'object' && value.kind === 'map') {
    if (hasArguments) return run.fail(`${name} is not a method but has arguments`);
    return { value: elementOf(value, name) };
  }
  return run.fail(`can't evaluate field ${name} in type ${type}`);
}

/** Loki's templates treat a missing key as empty. */
export function elementOf(map: GoMap, name: string): GoValue {
  return map.get(name) ?? (map.type === 'map[string]string' ? '' : nilInterface);
}
