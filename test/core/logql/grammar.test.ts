import test from 'ava';
import { runParser, type Token } from '../../../core/logql/grammar/driver.js';
import { Grammar, type Terminal } from '../../../core/logql/grammar/symbols.js';
import { buildTable } from '../../../core/logql/grammar/table.js';
import { logqlTable } from '../../../core/logql/parse.js';

/** A grammar of sums in parentheses and lists of them, with a rule that resumes after a syntax error. */
function sums() {
  const grammar = new Grammar();
  const number = grammar.terminal<string>('NUMBER');
  const open = grammar.terminal<string>('(');
  const close = grammar.terminal<string>(')');
  const comma = grammar.terminal<string>(',');
  const [plus] = grammar.operators<string>('left', ['+']);
  const [times] = grammar.operators<string>('left', ['*']);
  const [power] = grammar.operators<string>('right', ['^']);
  if (plus === undefined || times === undefined || power === undefined)
    throw new Error('operators are missing');
  const start = grammar.nonterminal<string>('start');
  const list = grammar.nonterminal<string>('list');
  const sum = grammar.nonterminal<string>('sum');
  grammar.rule(start)([list, grammar.end], ([made]) => made);
  grammar.rule(list)([sum], ([made]) => made);
  grammar.rule(list)([list, comma, sum], ([a, , b]) => `${a}, ${b}`);
  grammar.rule(list)([list, comma, grammar.error], ([a]) => `${a}, ?`);
  grammar.rule(sum)([number], ([text]) => text);
  grammar.rule(sum)([open, sum, close], ([, made]) => made);
  for (const op of [plus, times, power])
    grammar.rule(sum)([sum, op, sum], ([a, , b]) => `(${a}${op.name}${b})`);
  return buildTable(grammar);
}

function parse(text: string): { value: unknown; errors: string[] } {
  const table = sums();
  const kinds = new Map<string, Terminal<unknown>>(table.grammar.terminals.map((kind) => [kind.name, kind]));
  const words = text.split(' ');
  const errors: string[] = [];
  let at = 0;
  const next = (): Token => {
    const word = words[at++];
    const kind = word === undefined ? table.grammar.end : (kinds.get(word) ?? kinds.get('NUMBER'));
    if (kind === undefined) throw new Error('no such token');
    return { kind, value: word, name: kind.name, start: at, end: at };
  };
  const result = runParser(table, { next, syntaxError: (message) => errors.push(message) });
  return { value: result?.value, errors };
}

test('precedence and associativity settle how operators bind', (t) => {
  t.is(parse('1 + 2 * 3 + 4').value, '((1+(2*3))+4)');
  t.is(parse('1 ^ 2 ^ 3').value, '(1^(2^3))');
  t.is(sums().shiftConflicts, 0);
});

test('a fault names the tokens that could be read, in declaration order and after forced reductions', (t) => {
  t.deepEqual(parse('1 +').errors, ['syntax error: unexpected $end, expecting NUMBER or (']);
  t.deepEqual(parse('( 1 2').errors, ['syntax error: unexpected NUMBER, expecting ) or + or * or ^']);
});

test('reading goes on behind a fault where a rule allows it, and tells no further fault nearby', (t) => {
  const { value, errors } = parse('1 , ) ) , 2');
  t.is(value, '1, ?, 2');
  t.deepEqual(errors, ['syntax error: unexpected ), expecting NUMBER or (']);
  t.is(parse('( 1 , 2').value, undefined);
});

test('the table of LogQL has no rules in conflict but those where reading on is meant', (t) => {
  const table = logqlTable();
  t.is(table.reduceConflicts, 0);
  // Line filters, label filters and label lists shift in case of conflict, so they take the tokens that follow.
  t.is(table.shiftConflicts, 32);
});
