import test from 'ava';
import { formatQuery, parseQuery, printPlain } from '../../../core/logql/index.js';

const long = 'x'.repeat(90);
const selected = `{service="${long}"}`;
const rate = `rate(${selected}[1m])`;
/** The same query, broken into lines at an indentation level. */
const brokenRate = (level: number): string =>
  [`rate(`, `  ${selected} [1m]`, `)`].map((line) => '  '.repeat(level) + line).join('\n');

test('an empty grouping is printed where Loki keeps one', (t) => {
  const plain = (query: string): string => printPlain(parseQuery(query));
  const range = '{a="b"} | unwrap c[1m]';
  t.is(plain(`max_over_time(${range}) by ()`), `max_over_time(${range}) by ()`);
  t.is(plain(`max_over_time(${range}) without ()`), `max_over_time(${range}) without ()`);
  t.is(plain('sum by () (rate({a="b"}[1m]))'), 'sum(rate({a="b"}[1m]))');
  t.is(plain('sum without () (rate({a="b"}[1m]))'), 'sum without ()(rate({a="b"}[1m]))');
});

test('ignoring nothing is not printed, neither is its group', (t) => {
  const plain = (how: string): string => printPlain(parseQuery(`vector(1) * ${how} vector(2)`));
  const printed = (how: string): string => `(vector(1.000000) * ${how}vector(2.000000))`;
  t.is(plain('ignoring ()'), printed(''));
  t.is(plain('ignoring () group_left (a)'), printed(''));
  t.is(plain('on ()'), printed('on ()  '));
  t.is(plain('on () group_right (a, b)'), printed('on () group_right (a,b) '));
});

test('an operator on a line of its own loses lists without labels and has spaces in the others', (t) => {
  for (const [how, printed] of [
    ['* on () group_right (a)', '*'],
    ['or on ()', 'or'],
    ['> bool ignoring ()', '> bool'],
    ['/ ignoring () group_left', '/'],
    ['+ on (a,b) group_left (c,d)', '+ on (a, b) group_left (c, d)'],
    ['+ ignoring (a)', '+ ignoring (a) '],
  ] as const) {
    t.is(
      formatQuery(`${rate} ${how} 1`.replace(/1$/, 'vector(1)')),
      `${brokenRate(1)}\n${printed}\n  vector(1.000000)`,
    );
  }
});

test('a broken aggregation drops the parentheses of an empty grouping', (t) => {
  const body = `(\n${brokenRate(1)}\n)`;
  t.is(formatQuery(`sum without () (${rate})`), `sum without${body}`);
  t.is(formatQuery(`sum by () (${rate})`), `sum${body}`);
  t.is(formatQuery(`sum by (a,b) (${rate})`), `sum by (a, b)${body}`);
});

test('decolorize alone stands at the margin', (t) => {
  t.is(
    formatQuery(`sum(rate(${selected} | decolorize | json [1m]))`),
    `sum(\n  rate(\n    ${selected}\n| decolorize\n      | json [1m]\n  )\n)`,
  );
});

test('line filters share a line while they fit, and the others lose their alternatives', (t) => {
  t.is(
    formatQuery(`{a="b"} |= "c" or "d" != "e" or "f" |~ "${long}" or "g" |= "h" | json`),
    `{a="b"}\n  |= "c" or "d" != "e" != "f"\n  |~ "${long}"\n  |= "h"\n  | json`,
  );
  t.is(formatQuery(`{a="b"} |= "${long}${long}" or "c"`), `{a="b"}\n  |= "${long}${long}"`);
});

test('an offset below a millisecond has no sign once the query is broken', (t) => {
  t.is(formatQuery(`rate(${selected}[1m] offset -10us)`), brokenRate(0).replace(']', '] offset 0s'));
  t.is(formatQuery(`rate(${selected}[1m] offset -90s)`), brokenRate(0).replace(']', '] offset -1m30s'));
});
