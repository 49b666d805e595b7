import test from 'ava';
import fc from 'fast-check';
import { compileRegExp } from '../../../../core/logql/regexp/index.js';
import { canBeEmpty } from '../../../../core/logql/regexp/analysis.js';
import { certainGroups, matchingText } from '../../../../core/logql/regexp/match-text.js';
import { exactTree, parseRegExp } from '../../../../core/logql/regexp/parse.js';

const atom = fc.constantFrom('a', 'b', '[ab]', '.', '\\d', '(?:ab|c)', 'é', '^', '$', '\\b', '');
const times = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '+?');
const pattern = fc
  .letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.tuple(atom, times).map(([item, repeated]) => (/^[\^$\\]?b?$/.test(item) ? item : item + repeated)),
      fc.array(tie('node'), { maxLength: 3 }).map((items) => items.join('')),
      fc.tuple(tie('node'), tie('node')).map((items) => `(?:${items.join('|')})`),
      fc.tuple(tie('node'), times).map(([item, repeated]) => `(?P<NAME>${item})${repeated}`),
    ),
  }))
  .node.map((text) => {
    let count = 0;
    return text.replaceAll('NAME', () => `g${(count += 1)}`);
  });
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', 'é', ' ', '\n'), maxLength: 8 });

test('every match has the groups that are said to be certain, and is empty only where it is said that it can be', (t) => {
  let certain = 0;
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 8, maxLength: 8 }), (made, texts) => {
      const root = exactTree(made);
      if (root === undefined) return;
      const compiled = compileRegExp(made);
      for (const one of texts) {
        const match = compiled.exec(one);
        if (match === undefined) continue;
        if (match.groups[0] === '') t.true(canBeEmpty(root), `${made} in ${one}`);
        for (const name of certainGroups(root)) {
          certain += 1;
          t.not(match.named.get(name) ?? '', '', `${name} of ${made} in ${one}`);
        }
      }
    }),
    { numRuns: 2000, endOnFailure: true },
  );
  t.true(certain > 500, `${certain} certain groups`);
});

test('a text with the values of a match is found for usual patterns', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['" (?P<status>\\d+) (?P<size>\\d+) "', '1.2.3.4 "GET /a" 200 512 "-"'],
    ['^(?P<ip>\\S+) .*\\[(?P<time>[^\\]]+)\\] "(?P<method>\\w+)', '::1 - - [01/Nov] "GET /a"'],
    ['(?:took|lasted)\\s+(?P<ms>[0-9.]+)ms', 'it lasted  1.5ms in all'],
    ['(?i)level=(?P<level>[a-z]+)', 'LEVEL=Warn x'],
    ['(?:a=(?P<a>\\d)|b=(?P<b>\\d))', 'b=5'],
  ];
  for (const [made, line] of cases) {
    const compiled = compileRegExp(made);
    const values = compiled.exec(line)?.named ?? new Map<string, string>();
    const written = matchingText(parseRegExp(made).root, values, 'x') ?? '';
    t.deepEqual(compiled.exec(written)?.named, values, `${made} in ${written}`);
    t.true(values.size > 0);
  }
});

test('a text for a pattern of many repetitions is not written', (t) => {
  const root = exactTree('(?:(?:ab){100}){100}') ?? { op: 'empty', folds: false };
  t.is(matchingText(root, new Map(), 'x'), undefined);
});
