import type { LineFilterStage, LineFilterTerm } from '../../logql/ast.js';
import { parseAddress } from '../../logql/pipeline/ip-matcher.js';
import { readLiteralRegexp } from '../../logql/pipeline/literal-regexp.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, not, or, regexp, substring } from '../../victoria/logsql/build.js';
import { compileRegExp } from '../../logql/regexp/index.js';
import { requiredTexts } from '../../logql/regexp/required.js';
import { pushdownRules, type RuleId } from './rules/table.js';
import { wholeLinePattern } from './backend-pattern.js';
import type { Verdict } from './rules/types.js';

/** What the backend can do for one line filter; the filter is there unless the verdict is `none`. */
export interface Pushed {
  readonly rule: RuleId;
  readonly verdict: Verdict;
  readonly filter: LogsqlFilter;
}

const lineField = '_msg';

/** Decides how a line filter on the stored line goes to the backend (docs/protocol/logql-to-logsql.md#line-filters). */
export function pushLineFilter(stage: LineFilterStage): Pushed {
  const isNegative = stage.op.startsWith('!');
  const terms = stage.alternatives.map((term) => pushTerm(stage, term, isNegative));
  const [first] = terms;
  if (first === undefined || terms.some(({ verdict }) => verdict === 'none')) {
    const none = terms.find(({ verdict }) => verdict === 'none');
    return none ?? { rule: 'lineNetwork', verdict: 'none', filter: everything };
  }
  const filter = or(...terms.map((term) => term.filter));
  const verdict = terms.every((term) => term.verdict === 'exact') ? 'exact' : 'superset';
  const rule = terms.every((term) => term.rule === first.rule) ? first.rule : 'lineMixed';
  return { rule, verdict, filter: isNegative ? not(filter) : filter };
}

function pushTerm(stage: LineFilterStage, term: LineFilterTerm, isNegative: boolean): Pushed {
  if (term.kind === 'ip') return pushAddress(term.value, isNegative);
  if (replacement.test(term.value)) return pushAround(stage.op, term.value, isNegative);
  switch (stage.op) {
    case '|=':
    case '!=':
      return pushed('lineContains', contains(term.value));
    case '|~':
    case '!~':
      return pushRegexp(term.value, isNegative);
    case '|>':
      return pushed('linePattern', and(...term.value.split('<_>').map(contains)));
    case '!>':
      return pushed('linePatternNot', everything);
  }
}

const replacement = /\ufffd|\\x\{0*fffd\}/i;

/** The backend does not find words with the sign for bytes that are no text; it is asked for what stands around them. */
function pushAround(op: LineFilterStage['op'], value: string, isNegative: boolean): Pushed {
  if (isNegative) return pushed('lineReplacementNot', everything);
  const texts =
    op === '|~'
      ? requiredTexts(value).map((list) => or(...list.map(contains)))
      : value.split(op === '|>' ? /\ufffd|<_>/ : '\ufffd').map(contains);
  return pushed('lineReplacement', and(...texts));
}

function pushRegexp(pattern: string, isNegative: boolean): Pushed {
  const literal = readLiteralRegexp(pattern);
  if (literal !== undefined && !literal.ignoresCase) {
    const texts = literal.texts.length === 0 ? [''] : literal.texts;
    return pushed('lineLiteralRegexp', or(...texts.map(contains)));
  }
  if (compileRegExp(pattern).test('')) return pushed('lineRegexpAll', everything);
  // The backend takes its time for most patterns, and next to none for the texts that their matches contain.
  const texts = requiredTexts(pattern).map((list) => or(...list.map(contains)));
  const whole = wholeLinePattern(withoutDotAll(pattern));
  if (whole === undefined) {
    return isNegative ? pushed('lineRegexpDotsNot', everything) : pushed('lineRegexpDots', and(...texts));
  }
  const filter = and(...texts, regexp(lineField, whole));
  // The backend knows more cases of k and s (U+212A, U+017F), and of other letters perhaps, than Loki's plain search.
  if (/\(\?[a-zA-Z]*i/.test(pattern) && /[ks\u0080-\uffff]/i.test(pattern)) {
    return isNegative ? pushed('lineRegexpFoldNot', everything) : pushed('lineRegexpFold', filter);
  }
  return pushed('lineRegexp', filter);
}

/** Says that `.` does not match line feeds, unless the pattern says it does; flags at its start are joined. */
export function withoutDotAll(pattern: string): string {
  const flags = /^\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?\)/.exec(pattern);
  if (flags === null) return `(?-s)${pattern}`;
  const [whole, on = '', off = ''] = flags;
  if (on.includes('s') || off.includes('s')) return pattern;
  return `(?${on}-${off}s)${pattern.slice(whole.length)}`;
}

function pushAddress(text: string, isNegative: boolean): Pushed {
  // Only dotted addresses have a single spelling.
  if (isNegative || parseAddress(text)?.bits !== 32) return pushed('lineNetwork', everything);
  return pushed('lineAddress', contains(text));
}

function contains(text: string): LogsqlFilter {
  return text === '' ? everything : substring(lineField, text);
}

function pushed(rule: RuleId, filter: LogsqlFilter): Pushed {
  return { rule, verdict: pushdownRules[rule].verdict, filter };
}
