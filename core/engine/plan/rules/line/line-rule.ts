import type { LineFilterOp } from '../../../../logql/ast.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { everything, or, substring } from '../../../../victoria/logsql/build.js';
import { requiredTexts } from '../../../../logql/regexp/required.js';
import { kindOfRule } from '../rule.js';

/** One alternative of a line filter on the stored line. */
export interface LineTerm {
  readonly op: LineFilterOp;
  /** `ip` for what stands inside of `ip("...")`. */
  readonly kind: 'text' | 'ip';
  readonly value: string;
}

/** Defines a rule about an alternative of a line filter; what it emits is negated around it where the operator is negative. */
export const lineRule = kindOfRule<LineTerm, LogsqlFilter>();

export const lineField = '_msg';

/** Lines that hold the text. */
export function contains(text: string): LogsqlFilter {
  return text === '' ? everything : substring(lineField, text);
}

/** For each text that all matches of the pattern hold, in whatever case, the lines that hold it. */
export function containsTextsOf(pattern: string): readonly LogsqlFilter[] {
  return requiredTexts(pattern).map((list) => or(...list.map(contains)));
}

/** Whether a term holds the sign that stands for bytes that are no text, plainly or as a pattern writes it. */
export function holdsReplacement({ value }: LineTerm): boolean {
  return /\ufffd|\\x\{0*fffd\}/i.test(value);
}

export function isNegative({ op }: Pick<LineTerm, 'op'>): boolean {
  return op.startsWith('!');
}

export function isPattern({ op }: LineTerm): boolean {
  return op === '|~' || op === '!~';
}
