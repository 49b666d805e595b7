import type { MathExpr, MathFunction, MathOperator } from '../../../core/victoria/logsql/ast.js';
import type { EmbeddedPipe } from './ast.js';
import type { Lexer } from './lexer.js';
import { canonicalName, readCompound, readName, wrap } from './parse-tokens.js';
import { mathPriority, printMath } from '../../../core/victoria/logsql/print-math.js';
import { rangeNumber } from '../../../core/victoria/logsql/range-number.js';
import { mathFunctions } from '../../../core/victoria/logsql/words-table.js';

const operandEnds = ['=', '+', '-', '*', '/', '%', '^', '&', ',', ')', '(', '|', '!', ';', ''];
const weakest = 10;

/** Reads `math expr as name, ...`. */
export function readMathPipe(lexer: Lexer): EmbeddedPipe {
  const entries = [];
  do {
    lexer.next();
    const expr = readExpr(lexer, weakest);
    if (lexer.is(',', '|', ')', ';', '')) {
      entries.push({ expr, as: printMath(expr) });
      continue;
    }
    lexer.accept('as');
    entries.push({
      expr,
      as: wrap(`cannot parse result name for [${printMath(expr)}]`, () => readName(lexer)),
    });
  } while (lexer.is(','));
  return { kind: 'math', entries };
}

// Operators of equal precedence are left-associative.
function readExpr(lexer: Lexer, priority: number): MathExpr {
  let left = readOperand(lexer);
  for (;;) {
    const op = operatorAt(lexer);
    if (op === undefined || mathPriority[op] > priority) return left;
    lexer.next();
    const right = readExpr(lexer, mathPriority[op] - 1);
    left = { kind: 'binary', op, left, right };
  }
}

function operatorAt(lexer: Lexer): MathOperator | undefined {
  const token = lexer.quoted ? '' : lexer.token;
  switch (token) {
    case '^':
    case '*':
    case '/':
    case '%':
    case '+':
    case '-':
    case '&':
    case 'xor':
    case 'or':
    case 'default':
      return token;
    default:
      return undefined;
  }
}

function readOperand(lexer: Lexer): MathExpr {
  return lexer.nested(() => readOperandHere(lexer));
}

function readOperandHere(lexer: Lexer): MathExpr {
  if (lexer.accept('(')) {
    const inner = readExpr(lexer, weakest);
    if (!lexer.accept(')')) throw lexer.fail(`missing ')'; got ${JSON.stringify(lexer.token)} instead`);
    return inner;
  }
  if (lexer.accept('-')) return { kind: 'negate', operand: readOperand(lexer) };
  if (lexer.accept('+')) return readOperand(lexer);
  const word = lexer.quoted ? '' : lexer.token.toLowerCase();
  const func = [...mathFunctions].find((known) => known === word);
  if (func !== undefined) return readCall(lexer, func);
  const number = /^(?:\.?\d|inf$)/i.test(lexer.token);
  const text = readCompound(lexer, operandEnds);
  if (!number) return { kind: 'field', name: canonicalName(text) };
  if (rangeNumber(text) === undefined) throw lexer.fail(`cannot parse number from ${JSON.stringify(text)}`);
  return { kind: 'number', text };
}

const argumentCounts: Readonly<Record<MathFunction, readonly [number, number]>> = {
  abs: [1, 1],
  ceil: [1, 1],
  exp: [1, 1],
  floor: [1, 1],
  ln: [1, 1],
  max: [2, Infinity],
  min: [2, Infinity],
  now: [0, 0],
  rand: [0, 0],
  round: [1, 2],
};

function readCall(lexer: Lexer, name: MathFunction): MathExpr {
  lexer.next();
  if (!lexer.accept('('))
    throw lexer.fail(`cannot parse args for ${JSON.stringify(name)} function: missing '('`);
  const args: MathExpr[] = [];
  while (!lexer.accept(')')) {
    args.push(readExpr(lexer, weakest));
    if (!lexer.is(')') && !lexer.accept(',')) {
      throw lexer.fail(`unexpected token ${JSON.stringify(lexer.token)}; want ',' or ')'`);
    }
  }
  const [least, most] = argumentCounts[name];
  if (args.length >= least && args.length <= most) return { kind: 'call', name, args };
  throw lexer.fail(`'${name}' function got ${args.length} args`);
}
