import test from 'ava';
import { parseQuery } from '../../../core/logql/index.js';
import { evaluateConstant, isConstant, type Constant } from '../../../core/plan/constants.js';

function evaluate(text: string): Constant {
  const ast = parseQuery(text);
  if (ast.kind === 'log') throw new Error('not a metric query');
  return evaluateConstant(ast);
}

const results: readonly (readonly [string, Constant])[] = [
  ['1+1', { kind: 'scalar', value: 2 }],
  ['2 * 3 > bool 5', { kind: 'scalar', value: 1 }],
  ['1 / 0', { kind: 'scalar', value: NaN }],
  ['vector(3)', { kind: 'vector', value: 3 }],
  ['vector(1)+vector(1)', { kind: 'vector', value: 2 }],
  ['vector(2)^10', { kind: 'vector', value: 1024 }],
  ['vector(1) > vector(2)', { kind: 'vector', value: undefined }],
  ['vector(1) < vector(2)', { kind: 'vector', value: 1 }],
  ['1 < vector(2)', { kind: 'vector', value: 2 }],
  ['vector(1) > bool vector(2)', { kind: 'vector', value: 0 }],
  ['vector(1) > vector(2) or vector(7)', { kind: 'vector', value: 7 }],
  ['vector(1) and vector(7)', { kind: 'vector', value: 1 }],
  ['vector(1) unless vector(7)', { kind: 'vector', value: undefined }],
];

for (const [text, result] of results) {
  test(`${text} is ${String(result.value)}`, (t) => {
    t.deepEqual(evaluate(text), result);
  });
}

test('expressions that read logs are no constants', (t) => {
  for (const text of ['rate({a="b"}[1m])', 'sum(vector(1))', 'vector(1) + count_over_time({a="b"}[1m])']) {
    const ast = parseQuery(text);
    t.false(ast.kind !== 'log' && isConstant(ast), text);
  }
});
