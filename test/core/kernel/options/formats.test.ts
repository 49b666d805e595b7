import test from 'ava';
import { problemsOf, schemaProblem } from '../../../../core/kernel/options/index.js';

const isValid = (format: string, text: string) => problemsOf({ type: 'string', format }, text).length === 0;

for (const text of [
  ':3100',
  '127.0.0.1:0',
  'localhost:80',
  '[::1]:3100',
  '[::]:65535',
  '[fe80::1%eth0]:80',
]) {
  test(`${text} is an address to listen on`, (t) => t.true(isValid('listen-address', text)));
}
for (const text of [
  '',
  '3100',
  'localhost',
  ':99999',
  '::1:3100',
  'http://h:1',
  'a b:1',
  ':',
  '[::g]:80',
  '1.2.3:80',
]) {
  test(`${JSON.stringify(text)} is no address to listen on`, (t) => t.false(isValid('listen-address', text)));
}
for (const text of ['http://localhost:9428', 'https://h/path', 'HTTP://h']) {
  test(`${text} is an http address`, (t) => t.true(isValid('http-url', text)));
}
for (const text of ['', 'localhost:9428', 'ftp://h', 'http://', 'http:///x', 'http://h:99999']) {
  test(`${JSON.stringify(text)} is no http address`, (t) => t.false(isValid('http-url', text)));
}

for (const text of ['2026-11-01T00:00:00Z', '2026-11-01T00:00:00.123456789+01:00']) {
  test(`${text} is an RFC 3339 time`, (t) => t.true(isValid('rfc3339', text)));
}
for (const text of ['', '2026-11-01', '2026-02-30T00:00:00Z', '1793491200', '2026-11-01T00:00:00']) {
  test(`${JSON.stringify(text)} is no RFC 3339 time`, (t) => t.false(isValid('rfc3339', text)));
}

test('a duration may have a least value', (t) => {
  const schema = { type: 'string', format: 'duration', 'x-minimum': '1s' };
  t.deepEqual(problemsOf(schema, '1s'), []);
  t.deepEqual(
    problemsOf(schema, '999ms').map((problem) => problem.message),
    ['must be at least 1s, not "999ms"'],
  );
});

test('a schema that cannot be used says why', (t) => {
  const misspelt: object = { type: 'object', 'x-falg': 'a' };
  t.regex(
    schemaProblem({ type: 'object', properties: { a: { type: 'string', format: 'nope' } } }) ?? '',
    /nope/,
  );
  t.regex(schemaProblem(misspelt) ?? '', /x-falg/);
  t.is(
    schemaProblem({ type: 'object', properties: { a: { type: 'integer', default: 'x' } } }),
    'the default of "a" must be a whole number, not "x"',
  );
  t.is(schemaProblem({ type: 'object', properties: {} }), undefined);
});
