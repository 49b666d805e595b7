import test from 'ava';
import fc from 'fast-check';
import { compileRegExp } from '../../../../core/logql/regexp/index.js';
import { requiredTexts } from '../../../../core/logql/regexp/required.js';
import { deepRuns } from '../../../setup/runs.js';

const atoms = [
  'abk',
  'bask',
  'a',
  'b',
  'k',
  's',
  'é',
  'K',
  'ab',
  'bak',
  '.',
  '[ab]',
  '[^a]',
  '\\d',
  '\\.',
  '^',
  '$',
  '\\b',
  ' ',
];
const patterns = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'pattern' },
    fc.constantFrom(...atoms),
    fc.array(tie('node'), { minLength: 1, maxLength: 4 }).map((items) => items.join('')),
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{0,1}'))
      .map(([a, times]) => `(${a})${times}`),
  ),
})).node;
const pieces = [
  'a',
  'B',
  'b',
  'k',
  'K',
  '\u212a',
  's',
  'ſ',
  'é',
  'ab',
  'bak',
  'abk',
  'bask',
  'BAſK',
  ' ',
  '.',
  '7',
  '\ufffd',
];
const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''));

test('every line that a pattern matches contains one text of each list', (t) => {
  fc.assert(
    fc.property(patterns, fc.boolean(), fc.array(texts, { maxLength: 20 }), (pattern, ignoresCase, lines) => {
      const whole = ignoresCase ? `(?i)${pattern}` : pattern;
      const lists = requiredTexts(whole);
      const expression = compileRegExp(whole);
      for (const line of lines) {
        if (!expression.test(line)) continue;
        for (const list of lists)
          t.true(
            list.some((text) => line.includes(text)),
            `${whole} on ${line}`,
          );
      }
    }),
    { numRuns: deepRuns(800, 2500) },
  );
  t.pass();
});

const examples: readonly (readonly [string, readonly (readonly string[])[]])[] = [
  ['[Ee]rror.*Timeout', [['Timeout'], ['Error', 'error']]],
  ['(order|batch) \\d+', [['order', 'batch']]],
  ['took=\\d{3}ms', [['took=']]],
  ['warn|wrn', [['warn', 'wrn']]],
  ['(?:err|error|eror) x', [['err x', 'error x', 'eror x']]],
  ['foo(?:bar|qux)?', [['foo']]],
  ['(?i)out', [['OUT', 'OUt', 'OuT', 'Out', 'oUT', 'oUt', 'ouT', 'out']]],
  ['\\d+', []],
  ['ab|c', []],
  ['(?:abcd)*x', []],
];

for (const [pattern, lists] of examples) {
  test(`what matches ${pattern} contains ${JSON.stringify(lists)}`, (t) => {
    t.deepEqual(
      requiredTexts(pattern).map((list) => [...list].sort()),
      lists.map((list) => [...list].sort()),
    );
  });
}
