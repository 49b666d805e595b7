import { quoteGo } from '../../base/time/go-quote.js';
import { PathError } from '../paths/scanner.js';
import { PatternError } from '../pattern.js';
import { TemplateSyntaxError } from '../template/parse.js';
import { isIpPattern } from './ip.js';

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
