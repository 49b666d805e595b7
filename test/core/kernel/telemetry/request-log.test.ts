import test from 'ava';
import { LogqlError } from '../../../../core/logql/error.js';
import { apiError } from '../../../../core/plugin/index.js';
import type { TelemetryOptions } from '../../../../core/base/options.gen.js';
import { RequestLog, RequestRecord } from '../../../../core/kernel/telemetry/request-log.js';
import {
  FakeClock,
  makeCaller,
  makeHost,
  telemetryOptions,
  type FakeHost,
} from '../../../../core/testing/index.js';

const queryCall = { path: '/select/logsql/query', type: 'query' };

interface Setting {
  readonly log: RequestLog;
  readonly host: FakeHost;
  readonly clock: FakeClock;
}

function setting(change: Partial<TelemetryOptions> = {}): Setting {
  const clock = new FakeClock();
  const host = makeHost({ clock });
  return { clock, host, log: new RequestLog(host.log, { ...telemetryOptions(), ...change }, clock) };
}

function record(change: (made: RequestRecord) => void = () => undefined): RequestRecord {
  const caller = makeCaller({
    address: '10.0.0.7',
    headers: new Map([['authorization', `Basic ${btoa('ann:secret')}`]]),
  });
  const made = new RequestRecord('GET', '/ref/api/v1/query_range', caller, 0);
  made.route = '/loki/api/v1/query_range';
  made.requestType = 'query_range';
  made.query = '{app="a"}';
  change(made);
  return made;
}

test('a request record tells route, status, times, cache and backend calls, and never a credential', (t) => {
  const { log, host } = setting();
  const one = record(({ trace }) => {
    trace.cache('miss');
    trace.tenantId = 't1';
    trace.upstreamCalls.push({ ...queryCall, status: 200, durationMs: 30, rows: 5, bytes: 9 });
  });
  log.started();
  log.finished(one, 200, 42.5);
  const [written] = host.records;
  t.like(written?.fields, {
    'http.route': '/loki/api/v1/query_range',
    'url.path': '/ref/api/v1/query_range',
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'ref.request.type': 'query_range',
    'ref.api.system': 'ref',
    'proxy.direction': 'downstream',
    'ref.tenant.id': 't1',
    'ref.query': 'sha256:d291e214+len=9',
    'event.duration': 42_500_000,
    'client.address': '10.0.0.7',
    'enduser.id': 't1',
    'enduser.source': 'tenant',
    'auth.source': 'basic',
    'auth.principal': 'ann',
    'cache.result': 'miss',
    'proxy.duration_ms': 42.5,
    'proxy.overhead_ms': 12.5,
    'upstream.calls': 1,
    'upstream.status_code': 200,
    'upstream.duration_ms': 30,
  });
  t.false(JSON.stringify(written).includes('secret'));
  t.false('upstream.calls_by_type' in (written?.fields ?? {}));
});

test('raw queries and maps by type are written when asked for', (t) => {
  const { log, host } = setting({ debugLogRawQueries: true, logLevel: 'debug' });
  const one = record(({ trace }) => {
    trace.upstreamCalls.push({ ...queryCall, status: 200, durationMs: 1, rows: 0, bytes: 0 });
    trace.upstreamCalls.push({ ...queryCall, status: 200, durationMs: 2, rows: 0, bytes: 0 });
    trace.operations.push({ operation: 'translate', outcome: 'success', durationMs: 3 });
    trace.strategies.push({ leaf: 0, strategy: 'rows', outcome: 'ran', durationMs: 4 });
  });
  log.finished(one, 200, 5);
  t.like(host.records[0]?.fields, {
    'ref.query': '{app="a"}',
    'upstream.calls_by_type': { 'backend:query': 2 },
    'upstream.duration_ms_by_type': { 'backend:query': 3 },
    'proxy.operations_by_type': { 'translate:success': 1 },
    'proxy.strategies_by_type': { 'rows:ran': 1 },
    'proxy.operation_duration_ms_by_type': { 'translate:success': 3 },
  });
});

test('above the threshold successes become a summary while errors keep their records', (t) => {
  const { log, host } = setting({ logRateThreshold: 2 });
  for (let index = 0; index < 5; index += 1) {
    log.started();
    log.finished(record(), 200, 10);
  }
  log.started();
  log.finished(
    record((made) => (made.error = apiError('breakerOpen', {}))),
    503,
    1,
  );
  log.summarize();
  t.deepEqual(
    host.records.map(({ level, body }) => [level, body]),
    [
      ['info', 'request'],
      ['info', 'request'],
      ['error', 'request failed'],
      ['info', 'request summary'],
    ],
  );
  t.like(host.records.at(-1)?.fields, { 'requests.count': 3, 'requests.by_type': { query_range: 3 } });
  t.is(host.records[2]?.fields['error.message'], 'backend unavailable: circuit breaker is open');
});

test('when the rate falls single records come back and an empty summary is not written', (t) => {
  const { log, host, clock } = setting({ logRateThreshold: 1 });
  for (let index = 0; index < 3; index += 1) log.started();
  clock.advance(5_000);
  log.started();
  log.finished(record(), 200, 10);
  log.summarize();
  t.deepEqual(
    host.records.map(({ body }) => body),
    ['request'],
  );
});

test('without a threshold one in N successes is written', (t) => {
  const { log, host } = setting({ logRateThreshold: 0, logRequestSampleRate: 3 });
  for (let index = 0; index < 7; index += 1) log.finished(record(), 200, 1);
  log.finished(record(), 404, 1);
  t.deepEqual(
    host.records.map(({ level }) => level),
    ['info', 'info', 'warn'],
  );
});

test('the text of a LogQL error stays out of the log, because it quotes the query', (t) => {
  const { log, host } = setting();
  const error = new LogqlError('parse error : stage \'|~ "ann@example.com["\'');
  log.finished(
    record((made) => (made.error = error)),
    400,
    1,
  );
  t.false(JSON.stringify(host.records).includes('ann@'));
});

test('probes that succeed are written at debug level only', (t) => {
  const probe = record((made) => (made.requestType = 'ready'));
  const quiet = setting();
  quiet.log.finished(probe, 200, 1);
  quiet.log.finished(probe, 503, 1);
  const loud = setting({ logLevel: 'debug' });
  loud.log.finished(probe, 200, 1);
  t.is(quiet.host.records.length, 1);
  t.is(loud.host.records.length, 1);
});
