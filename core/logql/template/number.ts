import { minInt64, parseGoFloat } from '../../base/time/index.js';
import { quoteGo } from '../../base/time/go-quote.js';
import { unquoteGo } from '../values/unquote.js';
import type { NumberNode } from './ast.js';
import type { TemplateToken } from './token.js';

const integerPattern =
  /^([+-]?)(0[xX]_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[oO]_?[0-7]+(?:_[0-7]+)*|0[bB]_?[01]+(?:_[01]+)*|0_?[0-7]+(?:_[0-7]+)*|0|[1-9][0-9]*(?:_[0-9]+)*)$/;
const maxUnsigned = (1n << 64n) - 1n;

/** Parses a constant; returns Go's error text when it is invalid. */
export function readConstant({ kind, text, offset }: TemplateToken): NumberNode | string {
  const node = { kind: 'number', offset, source: text, isComplex: false } as const;
  if (kind === 'constant') {
    const char = unquoteGo(text);
    const code = char?.codePointAt(0);
    if (char === undefined || code === undefined || Array.from(char).length !== 1) {
      return `malformed character constant: ${text}`;
    }
    return { ...node, integer: BigInt(code), float: code };
  }
  if (kind === 'complex' || text.endsWith('i')) {
    return { ...node, integer: undefined, float: undefined, isComplex: true };
  }
  const integer = readInteger(text);
  if (integer !== undefined) return { ...node, integer, float: Number(integer) };
  const parsed = parseGoFloat(text);
  if (parsed.kind === 'bad') return `illegal number syntax: ${quoteGo(text)}`;
  // A number written as an integer that fits no integer type is not accepted as a float either.
  if (!/[.eEpP]/.test(text)) return `integer overflow: ${quoteGo(text)}`;
  const isWhole = Number.isInteger(parsed.value) && Math.abs(parsed.value) < 2 ** 63;
  return { ...node, integer: isWhole ? BigInt(parsed.value) : undefined, float: parsed.value };
}

function readInteger(text: string): bigint | undefined {
  const [, sign, digits] = integerPattern.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const plain = digits.replaceAll('_', '');
  const isOldOctal = /^0[0-7]/.test(plain);
  const size = BigInt(isOldOctal ? `0o${plain.slice(1)}` : plain);
  const value = sign === '-' ? -size : size;
  return value < minInt64 || value > maxUnsigned ? undefined : value;
}
