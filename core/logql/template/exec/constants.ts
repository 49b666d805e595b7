import type { ArgNode, NumberNode } from '../ast.js';
import type { ParameterType } from '../library/types.js';
import { maxInt64, minInt64 } from '../../../base/time/index.js';
import { GoComplex, GoInt, type GoValue } from '../values/value.js';
import { typeText } from './check.js';
import { argumentSource } from './place.js';

export type Constant = Extract<ArgNode, { kind: 'bool' | 'string' | 'number' }>;

/** The value of a constant, or the reason why it is invalid here, which only matters if the template evaluates it. */
export type ConstantValue = { readonly value: GoValue } | { readonly fault: string };

/** A constant where any type is allowed: its spelling decides the type. */
export function freeConstant(node: Constant): ConstantValue {
  return node.kind === 'number' ? freeNumber(node) : { value: node.value };
}

/** A constant as an argument of a parameter's type. */
export function typedConstant(node: Constant, type: ParameterType): ConstantValue {
  const expected = (what: string): ConstantValue => ({
    fault: `expected ${what}; found ${argumentSource(node)}`,
  });
  switch (type) {
    case 'any':
    case 'value':
      return freeConstant(node);
    case 'string':
      return node.kind === 'string' ? { value: node.value } : expected('string');
    case 'int':
    case 'time.Duration': {
      const value = node.kind === 'number' ? asInt64(node) : undefined;
      return value === undefined ? expected('integer') : { value: new GoInt(value, type) };
    }
    case 'float64':
      return node.kind === 'number' && node.float !== undefined ? { value: node.float } : expected('float');
    case 'time.Time':
      return { fault: `can't handle ${argumentSource(node)} for arg of type ${typeText(type)}` };
  }
}

function asInt64({ integer }: NumberNode): bigint | undefined {
  return integer !== undefined && integer >= minInt64 && integer <= maxInt64 ? integer : undefined;
}

function freeNumber(node: NumberNode): ConstantValue {
  const { source, float, integer, isComplex } = node;
  if (isComplex) return { value: readComplex(source) };
  const isWhole = /^0[xX][^pP]+$/.test(source) || source.startsWith("'");
  if (float !== undefined && !isWhole && /[.eEpP]/.test(source)) return { value: float };
  const value = asInt64(node);
  if (value !== undefined) return { value: new GoInt(value) };
  return integer === undefined ? { value: undefined } : { fault: `${source} overflows int` };
}

/** `1+2i` or `2i`. */
function readComplex(source: string): GoComplex {
  const [, real = '0', imaginary = '0'] = /^(.+?(?=[+-][^+-]*i$))?(.*)i$/.exec(source) ?? [];
  return new GoComplex(Number(real), Number(imaginary));
}
