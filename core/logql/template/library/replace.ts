import { compileRegExp, RegExpSyntaxError, patternSize, type LinearRegExp } from '../../regexp/index.js';
import { exceeded, formatLimits } from '../exec/limits.js';
import { smallInt } from '../values.js';
import { GoError, ofTexts, size, textArgument, type CallContext, type GoFunction } from './types.js';

/** Go's strings.Replace; a negative count replaces all, and an empty old text matches between all characters. */
function replaceText(subject: string, old: string, replacement: string, count: number): string {
  if (old === replacement || count === 0) return subject;
  const pieces = old === '' ? ['', ...Array.from(subject)] : subject.split(old);
  // An empty text also matches at the end.
  const found = old === '' ? pieces.length : pieces.length - 1;
  const replaced = count < 0 ? found : Math.min(count, found);
  if (subject.length + replaced * replacement.length > formatLimits.functionOutput) exceeded('replacement');
  if (old === '') {
    const characters = pieces.slice(1);
    const out = characters.map((char, index) => (index < replaced ? replacement + char : char)).join('');
    return replaced > characters.length ? out + replacement : out;
  }
  return (
    pieces.slice(0, replaced + 1).join(replacement) +
    pieces
      .slice(replaced + 1)
      .map((rest) => old + rest)
      .join('')
  );
}

/** Longer texts are not scanned to compute the length of the replacement. */
const maxReplaced = 16 * formatLimits.functionOutput;

/** Cached patterns need no compiling, but checking that is not cheap. */
const stepsPerState = 2;
const stepsPerCharacter = 1 / 4;
/** Per character and state: the automaton may track many states at once. */
const stepsPerCharacterAndState = 1 / 2000;
/** A pattern that matches the empty text matches everywhere. */
const stepsPerEmptyMatch = 2;

function pattern(source: string, subject: string, context: CallContext): LinearRegExp {
  if (source.length > formatLimits.output) exceeded('function input');
  const { states } = patternSize(source);
  context.charge(states * stepsPerState);
  context.charge(subject.length * (stepsPerCharacter + states * stepsPerCharacterAndState));
  try {
    const compiled = compileRegExp(source);
    context.chargeTime(subject.length * compiled.findCost);
    if (compiled.test('')) context.charge(subject.length * stepsPerEmptyMatch);
    return compiled;
  } catch (error) {
    if (error instanceof RegExpSyntaxError) throw new GoError(error.message);
    throw error;
  }
}

function regexReplace(
  [source, subject, replacement]: readonly [string, string, string],
  context: CallContext,
  isLiteral: boolean,
): string {
  const compiled = pattern(source, subject, context);
  const tick = (): void => {
    context.tick();
  };
  const references = isLiteral ? 0 : replacement.split('$').length - 1;
  // Each match adds the replacement and, for each reference, at most the match.
  const most = (matches: number): number => subject.length * (1 + references) + matches * replacement.length;
  if (
    most(subject.length + 1) > formatLimits.functionOutput &&
    most(compiled.count(subject, tick)) > maxReplaced
  ) {
    exceeded('replacement');
  }
  return isLiteral
    ? compiled.replaceAllLiteral(subject, replacement, tick)
    : compiled.replaceAll(subject, replacement, tick);
}

function regexFunction(isLiteral: boolean): GoFunction {
  return {
    parameters: ['string', 'string', 'string'],
    outputLimit: 'replacement',
    call: ([source, subject, replacement], context) =>
      regexReplace(
        [textArgument(source), textArgument(subject), textArgument(replacement)],
        context,
        isLiteral,
      ),
  };
}

export const replaceFunctions: Readonly<Record<string, GoFunction>> = {
  replace: {
    parameters: ['string', 'string', 'string'],
    outputLimit: 'replacement',
    weight: 3,
    call: ([old, replacement, subject]) =>
      replaceText(textArgument(subject), textArgument(old), textArgument(replacement), -1),
  },
  Replace: {
    parameters: ['string', 'string', 'string', 'int'],
    outputLimit: 'replacement',
    weight: 3,
    call: ([subject, old, replacement, count]) =>
      replaceText(textArgument(subject), textArgument(old), textArgument(replacement), size(count)),
  },
  regexReplaceAll: regexFunction(false),
  regexReplaceAllLiteral: regexFunction(true),
  count: {
    ...ofTexts(() => ''),
    call: ([source, subject], context) =>
      smallInt(
        pattern(textArgument(source), textArgument(subject), context).count(textArgument(subject), () => {
          context.tick();
        }),
      ),
  },
};
