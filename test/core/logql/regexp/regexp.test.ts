import test from 'ava';
import fc from 'fast-check';
import { compile, textTest } from '../../../../core/logql/regexp/compiled.js';
import {
  compileRegExp,
  RegExpSyntaxError,
  sharingBudget,
  type CompileOptions,
  type LinearRegExp,
} from '../../../../core/logql/regexp/index.js';
import { doAll } from '../../../../core/base/pace/steps.js';
import { exactTree } from '../../../../core/logql/regexp/parse.js';
import { translateForV8 } from '../../../../core/logql/regexp/v8-engine.js';

const refused: readonly (readonly [string, string])[] = [
  ['[', 'missing closing ]: `[`'],
  ['(a', 'missing closing ): `(a`'],
  ['b)', 'unexpected ): `b)`'],
  ['*', 'missing argument to repetition operator: `*`'],
  ['a{2,1}', 'invalid repeat count: `{2,1}`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['x**', 'invalid nested repetition operator: `**`'],
  ['(?P<a.b>x)', 'invalid named capture: `(?P<a.b>`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['\\8', 'invalid escape sequence: `\\8`'],
];

for (const [pattern, text] of refused) {
  test(`the pattern ${pattern} is refused in Go's words`, (t) => {
    for (const options of [{}, { dotAll: true }, { anchored: true }]) {
      const error = t.throws(() => compileRegExp(pattern, options), { instanceOf: RegExpSyntaxError });
      t.is(error.message, `error parsing regexp: ${text}`);
    }
  });
}

test('a match tells its place, its groups and the named groups that took part', (t) => {
  const match = compileRegExp('(?P<a>x)(y)?(?P<b>q)?').exec('zxz');
  t.deepEqual(match, {
    index: 1,
    end: 2,
    groups: ['x', 'x', undefined, undefined],
    named: new Map([['a', 'x']]),
  });
});

test('groups may share a name, as in Go', (t) => {
  const compiled = compileRegExp('[(](?P<a>x)|\\((?P<a>y)(z)');
  t.deepEqual(compiled.groupNames, ['a', 'a']);
  t.is(compiled.exec('(yz')?.named.get('a'), 'y');
  t.is(compiled.groupCount, 3);
});

test('an anchored pattern matches the whole text or not at all', (t) => {
  const compiled = compileRegExp('a|ab', { anchored: true });
  t.true(compiled.test('ab'));
  t.false(compiled.test('abc'));
  t.is(compiled.exec('ab')?.end, 2);
});

test('replacements are expanded as Go expands them', (t) => {
  t.is(compileRegExp('(?P<a>x)(y)').replaceAll('axyb', '<${a}|$2|$$|$2x|${|$>'), 'a<x|y|$||${|$>b');
  t.is(compileRegExp('x').replaceAllLiteral('axb', '$0'), 'a$0b');
});

test('an empty match that touches the match before it is not replaced', (t) => {
  t.is(compileRegExp('a*').replaceAll('baaac', 'X'), 'XbXcX');
  t.is(compileRegExp('').replaceAll('a\u{1f600}b', '-'), '-a-\u{1f600}-b-');
  t.is(compileRegExp('a*').count('baaac'), 3);
  t.is(compileRegExp('\\B').replaceAll('\u{1f600}', '-'), '-\u{1f600}-');
});

test('ignoring case folds K and S as Unicode does', (t) => {
  t.true(compileRegExp('(?i)^kelvins$').test('\u212aELVIN\u017f'));
  t.false(compileRegExp('(?i)kelvin').test('\u212belvin'));
});

test('a hostile pattern stays linear', (t) => {
  const text = 'a'.repeat(20_000);
  for (const pattern of ['(a+)+$b', '(a|aa)*c', 'a.*a.*a.*b', '^(a*)*b', '[a-z]+=']) {
    t.false(compileRegExp(pattern).test(text), pattern);
  }
});

/** Short patterns and texts with few distinct characters, so that matches and near misses are common. */
const atom = fc.constantFrom(
  ...['a', 'b', 'ab', 'k', '.', '[ab]', '[^a]', '\\d', '\\w', '\\s', '^', '$', '\\b', '\\B', '\\.', '\u00e9'],
  ...['\u{1f600}', '(a)', '(?:ab)', '(?P<n>b)', '(?i:k)', '(?s:.)', '.*', '.+', '\\x61', '\\n', '[\\d-]'],
);
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '+?', '??');
const sequence = fc
  .array(fc.tuple(atom, quantifier), { maxLength: 5 })
  .map((parts) => parts.map(([one, count]) => one + count).join(''));
/** Patterns that are searched for as text, or for which backtracking takes linear time. */
const gaps = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'k', '\u00e9', '\u{1f600}', '\\.', '\\n', '.*', '.*'), {
    maxLength: 5,
  })
  .map((parts) => parts.join(''));
const fromStart = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'a',
        'b',
        '[ab]',
        '\\d',
        '-',
        ' ',
        '[^a]',
        '(k)',
        '(?P<n>b)',
        '\\w',
        '\\b',
        '\u{1f600}',
      ),
      fc.constantFrom('', '', '+', '*', '?', '{1,2}', '+?'),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => `^${parts.map(([one, count]) => one + count).join('')}`);
const pattern = fc
  .tuple(
    fc.constantFrom('', '', '(?i)', '(?s)'),
    fc.oneof(...[sequence, gaps, fromStart].map((part) => fc.array(part, { minLength: 1, maxLength: 3 }))),
    fc.boolean(),
  )
  .map(([flags, parts, grouped]) => flags + (grouped ? `(${parts.join('|')})` : parts.join('|')));
const letters = ['a', 'b', 'k', 'K', '\u212a', '1', '.', ' ', '\n', '-', '\u00e9', '\u{1f600}', '\u2028'];
const text = fc.array(fc.constantFrom(...letters), { maxLength: 12 }).map((parts) => parts.join(''));
const options = fc.record({ anchored: fc.boolean(), dotAll: fc.boolean() });

function tryCompile(source: string, how: CompileOptions, fast: boolean): LinearRegExp | undefined {
  try {
    return compile(source, how, fast);
  } catch {
    return undefined;
  }
}

test('the faster ways give the answers of the automaton', (t) => {
  let byText = 0;
  let byBacktracking = 0;
  fc.assert(
    fc.property(pattern, options, fc.array(text, { maxLength: 6 }), (source, how, texts) => {
      const fast = tryCompile(source, how, true);
      const plain = tryCompile(source, how, false);
      t.is(fast === undefined, plain === undefined);
      const tree = plain === undefined ? undefined : exactTree(source, how.dotAll);
      if (tree !== undefined && textTest(tree, how.anchored) !== undefined) byText += 1;
      if (tree !== undefined && translateForV8(tree, how.anchored) !== undefined) byBacktracking += 1;
      for (const one of texts) {
        t.is(fast?.test(one), plain?.test(one), `${source} ${JSON.stringify(how)} ${JSON.stringify(one)}`);
        t.deepEqual(
          fast?.exec(one),
          plain?.exec(one),
          `${source} ${JSON.stringify(how)} ${JSON.stringify(one)}`,
        );
        t.is(fast?.replaceAll(one, '<$0>'), plain?.replaceAll(one, '<$0>'));
      }
    }),
    { numRuns: 3000 },
  );
  t.true(byText > 150, `${byText}`);
  t.true(byBacktracking > 400, `${byBacktracking}`);
});

/** Compiles as many patterns as one query has, each in a step of its own. */
function compileSharing(count: number, compile: (at: number) => void): void {
  const steps = function* () {
    for (let at = 0; at < count; at += 1) {
      compile(at);
      yield;
    }
  };
  doAll(sharingBudget(steps()));
}

test('patterns that would take long to compile are refused before they are built, all of a query together', (t) => {
  const tooLarge = {
    instanceOf: RegExpSyntaxError,
    message: /^error parsing regexp: expression too large: .* 6000 /,
  };
  t.throws(() => compileRegExp('(a|b)'.repeat(20_000)), tooLarge);
  t.throws(() => compileRegExp('\\pL'.repeat(1_000)), tooLarge);
  t.throws(() => compileRegExp('(?:[^a]{1000}){7}'), { message: /invalid repeat count/ });
  t.throws(() => compileRegExp('[^a]{1000}'.repeat(7)), tooLarge);
  const share = (): void => {
    compileSharing(7, (at) => compileRegExp(`x{${990 + at}}`));
  };
  t.throws(share, tooLarge);
  // Known patterns count as well, but a pattern that is used twice counts once.
  t.throws(share, tooLarge);
  t.notThrows(() => {
    compileSharing(7, (at) => compileRegExp('x{990}', { anchored: at % 2 === 0 }));
  });
});

test('RE2 tells of too many repetitions itself, quoted ones are none', (t) => {
  t.throws(() => compileRegExp('(a{1000}){1000}'), {
    message: 'error parsing regexp: invalid repeat count: `{1000}`',
  });
  t.true(compileRegExp('\\Q(a{1000}){1000}\\E').test('(a{1000}){1000}'));
  t.throws(() => compileRegExp(`\\Q(a{1000}){1000}\\E${'(?:a{500}b{500})'.repeat(7)}`), {
    message: /expression too large/,
  });
});

test('a choice of plain texts may be of any length', (t) => {
  const names = Array.from({ length: 5_000 }, (_, at) => `pod-${at}\\.x`);
  const anchored = compileRegExp(names.join('|'), { anchored: true });
  const anywhere = compileRegExp(names.join('|'));
  t.true(anchored.test('pod-4999.x'));
  t.false(anchored.test('a pod-4999.x'));
  t.true(anywhere.test('of a pod-4999.x, which'));
  t.false(anywhere.test('pod-4999-x pod-.x'));
});

test('many plain texts are found as the automaton finds them', (t) => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
  const texts = fc.array(text, { minLength: 17, maxLength: 24 });
  const property = fc.property(texts, text, fc.boolean(), (parts, subject, anchored) => {
    const pattern = parts.join('|');
    return (
      compile(pattern, { anchored }).test(subject) === compile(pattern, { anchored }, false).test(subject)
    );
  });
  t.notThrows(() => {
    fc.assert(property, { seed: 7 });
  });
});
