import test from 'ava';
import { wholeLinePattern, wholeMatcher } from '../../../../core/engine/plan/backend-pattern.js';

// Patterns that VictoriaLogs 1.52 was seen to match wrongly, and patterns that it was seen to match as Go's package does.
const guarded = [
  'foo\\b',
  'foo\\B',
  '[f]oo\\b',
  'o{2}\\b',
  'foo(\\b|x)',
  'foo\\b bar',
  'x^foo',
  '(?:foo|fox)\\b',
  '(?m)a$',
  '(?s)a.',
  'foo\\Ax',
];
const sentAsIs = [
  'foo',
  'foo$',
  '^foo',
  '^foo\\b',
  '\\bfoo\\b',
  '(^|\\s)foo(\\s|$)',
  '(foo|bar)\\b',
  '\\d+\\b',
  'x?foo\\b',
  '(?i)foo\\b',
  'a|^foo',
  '.+foo.+',
];

for (const pattern of guarded) {
  test(`${pattern} is sent behind what is always true`, (t) => {
    t.is(wholeLinePattern(pattern), `(?:\\b|\\B)(?:${pattern})`);
  });
}

for (const pattern of sentAsIs) {
  test(`${pattern} is sent as it is`, (t) => {
    t.is(wholeLinePattern(pattern), pattern);
  });
}

for (const pattern of ['\\s|.', '(?:\\n|.)x', '\\w|[^a]', 'a(?s:.)', '(?m)\\s|.|b']) {
  test(`${pattern} is not sent: its dots are of both kinds`, (t) => {
    t.is(wholeLinePattern(pattern), undefined);
  });
}

test('patterns of stream selectors are kept whole too, though their beginning is anchored', (t) => {
  const sent = (pattern: string): string => {
    const made = wholeMatcher('app', '=~', pattern);
    return made.kind === 'value' ? made.value : '';
  };
  for (const pattern of ['(api|web)-.*new.*', '[ab].*new.*', '\\w.+new.+', 'x[ab](?:.*)new(?:.*)'])
    t.is(sent(pattern), `(?:\\b|\\B)(?:${pattern})`);
  for (const pattern of ['(api|web)-.*', 'api-.*new.*', '.*new.*', '[ab].*new', 'web-[0-9]+'])
    t.is(sent(pattern), pattern);
  for (const pattern of ['foo\\b.*', '^foo\\b.*', '(^)foo\\b.*', 'x^foo', '.+foo.+'])
    t.is(sent(pattern), `(?:\\b|\\B)(?:${pattern})`);
  for (const pattern of ['foo.*', '^foo$', 'foo|bar', '(foo|bar)\\b.*', '.*\\bfoo', '(?i)foo\\b.*'])
    t.is(sent(pattern), pattern);
  t.deepEqual(wholeMatcher('app', '=', 'foo\\b'), { kind: 'value', label: 'app', op: '=', value: 'foo\\b' });
});
