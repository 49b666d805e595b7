import { quoteGo } from '../../base/label-set.js';
import { PathError } from '../paths/scanner.js';
import { PatternError } from '../pattern.js';
import { TemplateSyntaxError } from '../template/parse.js';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { compileRegExp } from '../regexp/index.js';
import type { Matcher } from '../ast.js';

/** The error of parsing a stage's own language. */
export function stageFault(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    const isFault =
      error instanceof PathError || error instanceof PatternError || error instanceof TemplateSyntaxError;
    if (isFault) return error.message;
    throw error;
  }
}

export function ipFault(value: string): string | undefined {
  return isIpPattern(value) ? undefined : `ip: invalid pattern: ${quoteGo(value)}`;
}

type Family = 'ipv4' | 'ipv6';

/** True when `ip("...")` accepts the text: an address, a CIDR block, or an ascending range `a-b` of one address family. */
export function isIpPattern(text: string): boolean {
  if (familyOf(text) !== undefined) return true;
  const block = /^([^/%]*)\/(0|[1-9][0-9]{0,2})$/.exec(text);
  if (block !== null) {
    const family = familyOf(block[1] ?? '');
    return family !== undefined && Number(block[2]) <= (family === 'ipv4' ? 32 : 128);
  }
  const [from = '', to = '', ...more] = text.split('-');
  const family = familyOf(from);
  return family !== undefined && more.length === 0 && familyOf(to) === family && isRising(from, to, family);
}

function familyOf(text: string): Family | undefined {
  if (isIPv4(text)) return 'ipv4';
  return isIPv6(text) ? 'ipv6' : undefined;
}

function isRising(from: string, to: string, family: Family): boolean {
  try {
    new BlockList().addRange(from, to, family);
    return true;
  } catch {
    return false;
  }
}

const text =
  'queries require at least one regexp or equality matcher that does not have an empty-compatible value. ' +
  'For instance, app=~".*" does not meet this requirement, but app=~".+" will';

/** Loki's error when all matchers accept a missing label; undefined otherwise. */
export function emptyMatcherFault(matchers: readonly Matcher[]): string | undefined {
  return matchers.every(matchesEmpty) ? text : undefined;
}

/** True when the matcher accepts the empty value, which is what a missing label has. */
export function matchesEmpty({ op, value }: Matcher): boolean {
  switch (op) {
    case '=':
      return value === '';
    case '!=':
      return value !== '';
    case '=~':
      return compileRegExp(value, { anchored: true, dotAll: true }).test('');
    case '!~':
      return !compileRegExp(value, { anchored: true, dotAll: true }).test('');
  }
}
