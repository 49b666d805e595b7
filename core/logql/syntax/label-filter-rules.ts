import type { CompareOp, LabelFilter } from '../ast.js';
import type { Terminal } from '../grammar/symbols.js';
import { abort, labelFilter, matcher } from './log-rules.js';
import { number, type NumberText } from './metric-rules.js';
import { grammar, operator, token } from './tokens.js';

const { identifier, string, equal, comma, open, close } = token;

const comparisons: readonly (readonly [Terminal<string>, CompareOp])[] = [
  [operator('>'), '>'],
  [operator('>='), '>='],
  [operator('<'), '<'],
  [operator('<='), '<='],
  [operator('!='), '!='],
  [operator('=='), '=='],
  [equal, '=='],
];
const compare = grammar.nonterminal<LabelFilter>('comparison');

/** Rules for label filters and their `and`/`or` trees. */
export function addLabelFilterRules(): void {
  grammar.rule(labelFilter)([matcher], ([{ name, op, value }], span) => ({
    kind: 'string',
    name,
    op,
    value,
    span,
  }));
  grammar.rule(labelFilter)([compare], ([made]) => made);
  for (const [kind, op] of [
    [equal, '='],
    [operator('!='), '!='],
  ] as const) {
    grammar.rule(labelFilter)(
      [identifier, kind, token.ip, open, string, close],
      ([name, , , , value], span) => ({
        kind: 'ip',
        name,
        op,
        value,
        span,
      }),
    );
  }
  for (const [kind, op] of comparisons) addComparison(kind, op);
  grammar.rule(labelFilter)([open, labelFilter, close], ([, inner]) => inner);
  grammar.rule(labelFilter)([labelFilter, labelFilter], ([left, right], span) => ({
    kind: 'and',
    left,
    right,
    span,
  }));
  for (const joint of [comma, operator('and')]) {
    grammar.rule(labelFilter)([labelFilter, joint, labelFilter], ([left, , right], span) => ({
      kind: 'and',
      left,
      right,
      span,
    }));
  }
  grammar.rule(labelFilter)([labelFilter, operator('or'), labelFilter], ([left, , right], span) => ({
    kind: 'or',
    left,
    right,
    span,
  }));
}

function addComparison(kind: Terminal<string>, op: CompareOp): void {
  grammar.rule(compare)([identifier, kind, token.duration], ([name, , nanoseconds], span) => ({
    kind: 'duration',
    name,
    op,
    nanoseconds,
    span,
  }));
  grammar.rule(compare)([identifier, kind, token.bytes], ([name, , bytes], span) => ({
    kind: 'bytes',
    name,
    op,
    bytes,
    span,
  }));
  grammar.rule(compare)([identifier, kind, number], ([name, , text], span) => ({
    kind: 'number',
    name,
    op,
    value: readNumber(text),
    span,
  }));
}

/** The value is needed immediately, so an invalid number ends parsing. */
function readNumber(text: NumberText): number {
  return text.ok ? text.value : abort(text.error);
}
