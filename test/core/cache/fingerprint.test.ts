import test from 'ava';
import { createFingerprint, type Forwarding } from '../../../core/cache/fingerprint.js';

const nothing: Forwarding = { forwardAuthorization: false, forwardHeaders: [], forwardCookies: [] };
const of = (forwarding: Partial<Forwarding>, headers: Readonly<Record<string, string>>): string =>
  createFingerprint({ ...nothing, ...forwarding })(new Map(Object.entries(headers))) ?? 'none';

test('there is no fingerprint when nothing is forwarded', (t) => {
  t.is(of({}, { authorization: 'Bearer 1', cookie: 'a=1' }), 'none');
  t.is(of({ forwardAuthorization: true, forwardCookies: ['a'] }, {}), 'none');
});

test('the fingerprint is 16 hex digits and tells credentials apart without showing them', (t) => {
  const one = of({ forwardAuthorization: true }, { authorization: 'Bearer 1' });
  t.regex(one, /^[0-9a-f]{16}$/);
  t.not(one, of({ forwardAuthorization: true }, { authorization: 'Bearer 2' }));
  t.is(one, of({ forwardAuthorization: true }, { authorization: 'Bearer 1', 'x-other': 'differs' }));
});

test('named headers count whatever the case of their names', (t) => {
  const forwarding = { forwardHeaders: ['X-Team'] };
  t.not(of(forwarding, { 'x-team': 'a' }), of(forwarding, { 'x-team': 'b' }));
});

test('a header and a cookie of the same name and value are different credentials', (t) => {
  const forwarding = { forwardHeaders: ['s'], forwardCookies: ['s'] };
  t.not(of(forwarding, { s: '1' }), of(forwarding, { cookie: 's=1' }));
});

test('only the named cookies count, and their order does not', (t) => {
  const forwarding = { forwardCookies: ['a', 'b'] };
  t.is(of(forwarding, { cookie: 'a=1; b=2; c=3' }), of(forwarding, { cookie: 'b=2; c=4; a=1' }));
  t.not(of(forwarding, { cookie: 'a=1' }), of(forwarding, { cookie: 'a=2' }));
  t.is(of(forwarding, { cookie: 'c=3' }), 'none');
});

test('with * every cookie counts', (t) => {
  t.not(of({ forwardCookies: ['*'] }, { cookie: 'x=1' }), of({ forwardCookies: ['*'] }, { cookie: 'x=2' }));
});

test('a cookie that is no pair counts always', (t) => {
  t.not(of({ forwardCookies: ['a'] }, { cookie: 'ab' }), of({ forwardCookies: ['a'] }, { cookie: 'ac' }));
});
