import test from 'ava';
import { textAnswer } from '../../../../core/wire/answer/encode.js';
import { withHeaders } from '../../../../core/wire/answer/with-headers.js';
import { makeExchange, makeLogAnswer, makeTenant } from '../../../../core/testing/index.js';

test('an answer gets headers, and the bytes that it would have had', (t) => {
  const answer = withHeaders(makeExchange(), makeLogAnswer({ app: 'a' }, ['one']), { 'X-Region': 'eu' });
  if (answer.kind !== 'encoded') return t.fail();
  t.deepEqual([...answer.headers], [['X-Region', 'eu']]);
  t.is(answer.status, 200);
  t.regex(answer.body.toString(), /^\{"status":"success","data":\{"resultType":"streams","result":\[.*"one"/);
});

test('a caller who asks for categorized labels gets them', (t) => {
  const exchange = makeExchange({ caller: { categorizeLabels: true } });
  const answer = withHeaders(exchange, makeLogAnswer({ app: 'a' }, ['one']), {});
  t.true(answer.kind === 'encoded' && answer.body.includes('"encodingFlags":["categorize-labels"]'));
});

test('stored bytes are shared, so their headers are copied', (t) => {
  const stored = textAnswer(404, 'none');
  const answer = withHeaders(makeExchange(), stored, { 'X-Region': 'eu' });
  t.true(answer.kind === 'encoded' && answer.status === 404 && answer.headers.get('X-Region') === 'eu');
  t.is(stored.headers.size, 0);
});

test('what has no bytes of its own stays as it is', (t) => {
  const part = makeLogAnswer({ app: 'a' }, ['one']);
  t.is(withHeaders(makeExchange({ isFinal: false }), part, { 'X-Region': 'eu' }), part);
  const tenant = { kind: 'tenant', tenant: makeTenant() } as const;
  t.is(withHeaders(makeExchange(), tenant, { 'X-Region': 'eu' }), tenant);
});
