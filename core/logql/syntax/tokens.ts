import type { RangeOp, UnwrapConversion, VectorOp } from '../ast.js';
import { rangeFunctions } from '../functions/range/index.js';
import { vectorFunctions } from '../functions/vector/index.js';
import { Grammar, type Terminal } from '../grammar/symbols.js';

/** LogQL's grammar; the other modules of this folder add its rules. */
export const grammar = new Grammar();

const stageWords: Terminal<string>[] = [];

// The order of these declarations is the order of Loki's expected-token lists.
const bytes = grammar.terminal<number>('BYTES');
const identifier = grammar.terminal<string>('IDENTIFIER');
const string = grammar.terminal<string>('STRING');
const number = grammar.terminal<string>('NUMBER');
const flag = grammar.terminal<string>('FUNCTION_FLAG');
const duration = grammar.terminal<bigint>('DURATION');
const range = grammar.terminal<bigint>('RANGE');
const equal = grammar.terminal<string>('=');
const matches = grammar.terminal<string>('=~');
const matchesNot = grammar.terminal<string>('!~');
const lineNotPattern = grammar.terminal<string>('!>');
const openBrace = grammar.terminal<string>('{');
const closeBrace = grammar.terminal<string>('}');
const closeBracket = grammar.terminal<string>(']');
const comma = grammar.terminal<string>(',');
const dot = grammar.terminal<string>('.');
const lineMatches = grammar.terminal<string>('|~');
const lineContains = grammar.terminal<string>('|=');
const linePattern = grammar.terminal<string>('|>');
const open = grammar.terminal<string>('(');
const close = grammar.terminal<string>(')');
const by = grammar.terminal<string>('by');
const without = grammar.terminal<string>('without');
const vectorOp = grammar.terminal<VectorOp>('VECTOR_OP');
const rangeOp = grammar.terminal<RangeOp>('RANGE_OP');
const vector = grammar.terminal<string>('VECTOR');
const labelReplace = grammar.terminal<string>('label_replace');
const bool = grammar.terminal<string>('bool');
declareStages('json', 'regexp', 'logfmt');
const pipe = grammar.terminal<string>('|');
declareStages('line_format', 'label_format');
const unwrap = grammar.terminal<string>('unwrap');
const bytesConversion = grammar.terminal<UnwrapConversion>('BYTES_CONV');
const durationConversion = grammar.terminal<UnwrapConversion>('DURATION_CONV');
const secondsConversion = grammar.terminal<UnwrapConversion>('DURATION_SECONDS_CONV');
const offset = grammar.terminal<string>('offset');
declareStages('pattern', 'unpack');
const ip = grammar.terminal<string>('ip');
const on = grammar.terminal<string>('on');
const ignoring = grammar.terminal<string>('ignoring');
const groupLeft = grammar.terminal<string>('group_left');
const groupRight = grammar.terminal<string>('group_right');
declareStages('decolorize', 'drop', 'keep');
const operators = [
  grammar.operators<string>('left', ['or']),
  grammar.operators<string>('left', ['and', 'unless']),
  grammar.operators<string>('left', ['==', '!=', '<', '<=', '>', '>=']),
  grammar.operators<string>('left', ['+', '-']),
  grammar.operators<string>('left', ['*', '/', '%']),
  grammar.operators<string>('right', ['^']),
].flat();

/** Token kinds by the names that rules use; operators by their own text. */
export const token = {
  bytes,
  identifier,
  string,
  number,
  flag,
  duration,
  range,
  equal,
  matches,
  matchesNot,
  lineNotPattern,
  openBrace,
  closeBrace,
  comma,
  lineMatches,
  lineContains,
  linePattern,
  open,
  close,
  by,
  without,
  vectorOp,
  rangeOp,
  vector,
  labelReplace,
  bool,
  pipe,
  unwrap,
  bytesConversion,
  durationConversion,
  secondsConversion,
  offset,
  ip,
  on,
  ignoring,
  groupLeft,
  groupRight,
} as const;

const operatorsByText = new Map(operators.map((operator) => [operator.name, operator]));

export function operator(text: string): Terminal<string> {
  const found = operatorsByText.get(text);
  if (found === undefined) throw new Error(`no such operator: ${text}`);
  return found;
}

const spelled = [
  ...[equal, matches, matchesNot, lineNotPattern, openBrace, closeBrace, closeBracket, comma, dot],
  ...[lineMatches, lineContains, linePattern, open, close, pipe, by, without, bool, unwrap, offset],
  ...[on, ignoring, groupLeft, groupRight, ...stageWords, ...operators],
];

const fixed = new Map(spelled.map((kind) => [kind.name, kind]));

/** Punctuation, operators and the grammar words that can never be names. */
export const fixedTokens: ReadonlyMap<string, Terminal<string>> = fixed;

function declareStages(...names: readonly string[]): void {
  stageWords.push(...names.map((name) => grammar.terminal<string>(name)));
}

/** Registers the keyword of a stage. Loki's keywords are also declared above, for the order of its lists; others come last. */
export function stageWord(text: string): Terminal<string> {
  const found = fixed.get(text) ?? grammar.terminal<string>(text);
  fixed.set(text, found);
  return found;
}

/** A word that is a function if an argument list or a grouping follows, and a plain name elsewhere. */
interface FunctionWord {
  readonly kind: Terminal<unknown>;
  /** The token's name in error texts. */
  readonly name: string;
}

export const functionWords: ReadonlyMap<string, FunctionWord> = new Map<string, FunctionWord>([
  ...Object.keys(vectorFunctions).map(
    (word) => [word, { kind: vectorOp, name: word.toUpperCase() }] as const,
  ),
  ...Object.keys(rangeFunctions).map((word) => [word, { kind: rangeOp, name: word.toUpperCase() }] as const),
  ['vector', { kind: vector, name: vector.name }],
  ['ip', { kind: ip, name: ip.name }],
  ['label_replace', { kind: labelReplace, name: labelReplace.name }],
  ['bytes', { kind: bytesConversion, name: bytesConversion.name }],
  ['duration', { kind: durationConversion, name: durationConversion.name }],
  ['duration_seconds', { kind: secondsConversion, name: secondsConversion.name }],
]);

/** Appends in place to a list that no other rule holds; copying each time would take quadratic time. */
export function append<T>(list: T[], ...items: readonly T[]): T[] {
  list.push(...items);
  return list;
}
