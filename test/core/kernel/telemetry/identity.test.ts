import test from 'ava';
import { endUserOf } from '../../../../core/victoria/upstream/connections.js';
import { authOf } from '../../../../core/kernel/telemetry/request-log.js';
import { makeCaller } from '../../../../core/testing/index.js';

const everything = makeCaller({
  address: '10.0.0.7',
  headers: new Map([
    ['x-webauth-user', 'web'],
    ['x-forwarded-user', 'fwd'],
    ['x-forwarded-for', '1.2.3.4, 10.0.0.1'],
  ]),
});

test('trusted headers name the end user in the order of the specification', (t) => {
  t.deepEqual(endUserOf(everything, 't1', true), { id: 'fwd', name: 'fwd', source: 'x-forwarded-user' });
  const forwarded = makeCaller({ headers: new Map([['x-forwarded-for', '1.2.3.4, 10.0.0.1']]) });
  t.deepEqual(endUserOf(forwarded, 't1', true), { id: 't1', source: 'tenant' });
  t.deepEqual(endUserOf(forwarded, undefined, true), { id: '1.2.3.4', source: 'forwarded_for' });
});

test('headers that anybody can send are not believed by default', (t) => {
  t.deepEqual(endUserOf(everything, undefined, false), { id: '10.0.0.7', source: 'remote_addr' });
  t.deepEqual(endUserOf(everything, '', false), { id: '10.0.0.7', source: 'remote_addr' });
});

test('credentials give a principal and never a secret', (t) => {
  const basic = makeCaller({ headers: new Map([['authorization', `Basic ${btoa('ann:secret')}`]]) });
  t.deepEqual(authOf(basic), { source: 'basic', principal: 'ann' });
  t.deepEqual(authOf(makeCaller({ headers: new Map([['authorization', 'Bearer abc']]) })), {
    source: 'bearer',
  });
  t.is(authOf(makeCaller()), undefined);
});
