import test from 'ava';
import type { Caller, Tenant } from '../../../../core/base/caller.js';
import { makeCaller, makeTenant } from '../../../../core/testing/index.js';
import { printFilter } from '../../../../core/victoria/logsql/print.js';
import {
  type ForwardOptions,
  headersFor,
  tenantParameters,
  tenantScope,
} from '../../../../core/victoria/upstream/connections.js';

const nothing: ForwardOptions = {
  forwardAuthorization: false,
  forwardHeaders: [],
  forwardCookies: [],
  trustProxyHeaders: false,
};
const tenant: Tenant = {
  ...makeTenant('t1'),
  accountId: 11,
  projectId: 2,
  streamField: undefined,
  forwardHeader: false,
};

function callerWith(headers: Readonly<Record<string, string>>): Caller {
  return {
    ...makeCaller(),
    orgId: undefined,
    address: '10.0.0.9',
    headers: new Map(Object.entries(headers)),
  };
}

test('the tenant’s ids go as headers, and nothing of the client’s by default', (t) => {
  const caller = callerWith({ authorization: 'Bearer x', cookie: 'a=1', 'x-custom': 'y' });
  t.deepEqual(headersFor(caller, tenant, nothing), { accountid: '11', projectid: '2' });
});

test('a tenant of a stream field goes as a filter, which quotes whatever the id is', (t) => {
  const labelled = { ...tenant, id: 'a"b}', streamField: 'org' };
  t.deepEqual(headersFor(callerWith({}), labelled, nothing), {});
  t.deepEqual(tenantParameters(labelled), [['extra_stream_filters', '{"org":"a\\"b}"}']]);
  t.deepEqual(tenantParameters(tenant), []);
  t.is(printFilter(tenantScope(labelled)), '{org="a\\"b}"}');
  t.is(printFilter(tenantScope(tenant)), '*');
});

test('a forwarded Authorization wins over the backend’s own credentials', (t) => {
  const options = { ...nothing, basicAuth: 'u:p' };
  t.is(headersFor(callerWith({}), tenant, options)['authorization'], 'Basic dTpw');
  const caller = callerWith({ authorization: 'Bearer x' });
  t.is(headersFor(caller, tenant, { ...options, forwardAuthorization: true })['authorization'], 'Bearer x');
});

test('named headers are forwarded, those of the connection and the tenant never', (t) => {
  const caller = callerWith({ 'x-custom': 'y', accountid: '99', host: 'evil', 'content-length': '5' });
  const options = { ...nothing, forwardHeaders: ['X-Custom', 'AccountID', 'Host', 'Content-Length'] };
  t.deepEqual(headersFor(caller, tenant, options), { 'x-custom': 'y', accountid: '11', projectid: '2' });
});

test('cookies are forwarded by name, or all', (t) => {
  const caller = callerWith({ cookie: 'a=1; b=2; ab=3' });
  t.is(headersFor(caller, tenant, { ...nothing, forwardCookies: ['a', 'ab'] })['cookie'], 'a=1; ab=3');
  t.is(headersFor(caller, tenant, { ...nothing, forwardCookies: ['*'] })['cookie'], 'a=1; b=2; ab=3');
  t.is(headersFor(caller, tenant, { ...nothing, forwardCookies: ['c'] })['cookie'], undefined);
});

test('a trusted proxy’s identity goes on: user, then tenant, then addresses', (t) => {
  const options = { ...nothing, trustProxyHeaders: true };
  const idOf = (caller: Caller): string | undefined =>
    headersFor(caller, tenant, options)['x-ref-proxy-client-id'];
  t.is(idOf(callerWith({ 'x-grafana-user': 'ann', 'x-forwarded-for': '1.2.3.4' })), 'ann');
  t.is(idOf({ ...callerWith({ 'x-forwarded-for': '1.2.3.4' }), orgId: 't1' }), 't1');
  t.is(idOf(callerWith({ 'x-forwarded-for': '1.2.3.4, 5.6.7.8' })), '1.2.3.4');
  t.is(idOf(callerWith({})), '10.0.0.9');
});

test('the tenant header goes on where the tenant says so', (t) => {
  t.is(headersFor(callerWith({}), { ...tenant, forwardHeader: true }, nothing)['x-scope-orgid'], 't1');
});
