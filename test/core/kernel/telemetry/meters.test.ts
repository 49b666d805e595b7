import test from 'ava';
import { AddedUp } from '../../../../core/kernel/telemetry/added-up.js';
import { MeterRegistry, RequestMetrics } from '../../../../core/kernel/telemetry/meters.js';
import { requestMetrics } from '../../../../core/kernel/telemetry/metrics-table.js';
import { batches } from '../../../../core/kernel/telemetry/otlp/points.js';
import { RequestRecord } from '../../../../core/kernel/telemetry/request-log.js';
import { FakeClock, makeCaller, telemetryOptions } from '../../../../core/testing/index.js';
import { readMetric } from '../../../../core/testing/read-metric.js';

const specs = {
  things_total: { type: 'counter', help: 'Things.', labels: ['kind'] },
  level: { type: 'gauge', help: 'Level.' },
  wait_seconds: { type: 'histogram', help: 'Waits.', buckets: [1, 2] },
} as const;

test('meters count under the prefix', async (t) => {
  const registry = new MeterRegistry();
  const meters = registry.create(specs);
  meters.things_total.add(2, { kind: 'a' });
  meters.things_total.add(1, { kind: 'a' });
  meters.level.set(5, {});
  meters.wait_seconds.observe(1.5, {});
  const { text, contentType } = await registry.expose();
  t.regex(contentType, /^text\/plain/);
  t.true(text.includes('ref_proxy_things_total{kind="a"} 3'));
  t.true(text.includes('ref_proxy_level 5'));
  t.true(text.includes('ref_proxy_wait_seconds_bucket{le="2"} 1'));
});

test('two plugins may share a metric that they declare alike, and only then', (t) => {
  const registry = new MeterRegistry();
  registry.create({ level: specs.level });
  t.notThrows(() => registry.create({ level: specs.level }));
  t.throws(() => registry.create({ level: specs.things_total }), {
    message: 'metric level is declared twice with different definitions',
  });
});

test('label values that strangers choose cannot grow a metric without bound', async (t) => {
  const registry = new MeterRegistry();
  const meters = registry.create(specs);
  for (let index = 0; index < 2_100; index += 1) meters.things_total.add(1, { kind: `k${index}` });
  meters.things_total.add(1, { kind: 'k7' });
  t.is(await readMetric(registry, 'things_total', { kind: '__overflow__' }), 100);
  t.is(await readMetric(registry, 'things_total', { kind: 'k7' }), 2);
  t.is(await readMetric(registry, 'things_total', { kind: 'k2050' }), undefined);
});

const queryCall = { path: '/select/logsql/query', type: 'query' };

function measured(change: Parameters<typeof telemetryOptions>[0] = {}): {
  metrics: RequestMetrics;
  registry: MeterRegistry;
} {
  const registry = new MeterRegistry();
  const metrics = new RequestMetrics(
    registry.create(requestMetrics),
    telemetryOptions(change),
    new FakeClock(),
  );
  return { metrics, registry };
}

function record(orgId = 't1'): RequestRecord {
  const made = new RequestRecord('GET', '/loki/api/v1/query', makeCaller({ orgId }), 0);
  made.route = '/loki/api/v1/query';
  made.requestType = 'query';
  made.query = '{a="b"}';
  return made;
}

test('a request and its backend calls are counted on both sides', async (t) => {
  const { metrics, registry } = measured();
  const one = record();
  one.tupleMode = 'default_2tuple';
  one.trace.cache('hit');
  one.trace.upstreamCalls.push({ ...queryCall, status: 502, durationMs: 10, rows: 0, bytes: 0 });
  one.trace.operations.push({ operation: 'translate', outcome: 'error', durationMs: 1 });
  metrics.started(one);
  t.is(await readMetric(registry, 'active_requests', {}), 1);
  metrics.finished(one, 200, 20);
  t.is(await readMetric(registry, 'active_requests', {}), 0);
  t.is(
    await readMetric(registry, 'requests_total', {
      system: 'ref',
      direction: 'downstream',
      endpoint: 'query',
      status: '200',
    }),
    1,
  );
  t.is(
    await readMetric(registry, 'requests_total', {
      system: 'backend',
      direction: 'upstream',
      endpoint: 'query',
      status: '502',
    }),
    1,
  );
  t.is(await readMetric(registry, 'upstream_calls_per_request', { endpoint: 'query' }), 1);
  t.is(await readMetric(registry, 'cache_hits_total', {}), 1);
  t.is(await readMetric(registry, 'cache_misses_total', {}), 0);
  t.is(await readMetric(registry, 'cache_hits_by_endpoint', { endpoint: 'query' }), 1);
  t.is(await readMetric(registry, 'translation_errors_total', {}), 1);
  t.is(await readMetric(registry, 'response_tuple_mode_total', { mode: 'default_2tuple' }), 1);
  t.is(await readMetric(registry, 'tenant_requests_total', { tenant: 't1' }), undefined);
});

test('tenants and clients are only counted when asked for, and capped', async (t) => {
  const { metrics, registry } = measured({
    metricsExportSensitiveLabels: true,
    metricsMaxTenants: 2,
    metricsMaxClients: 1,
  });
  for (const orgId of ['a', 'b', 'c', 'd']) {
    const one = record(orgId);
    metrics.started(one);
    metrics.finished(one, 429, 5);
  }
  t.is(await readMetric(registry, 'tenant_requests_total', { tenant: 'b' }), 1);
  t.is(await readMetric(registry, 'tenant_requests_total', { tenant: '__overflow__' }), 2);
  t.is(await readMetric(registry, 'client_requests_total', { client: '__overflow__' }), 3);
  t.is(await readMetric(registry, 'client_inflight_requests', { client: 'a' }), 0);
  t.is(await readMetric(registry, 'client_errors_total', { reason: 'rate_limited' }), 4);
});

test('ten thousand tenants are as many series as the limits allow, and a scrape of them lets other work run', async (t) => {
  const { metrics, registry } = measured({
    metricsExportSensitiveLabels: true,
    metricsMaxTenants: 10_000,
    metricsMaxClients: 10_000,
  });
  const of = (orgId: string): void => {
    const one = record(orgId);
    metrics.started(one);
    metrics.finished(one, 200, 20);
  };
  for (let at = 0; at < 10_000; at += 1) of(`t${at}`);
  const inSteps = async <Result>(what: string, work: () => Promise<Result>): Promise<Result> => {
    let turnsOfOthers = 0;
    const others = setInterval(() => (turnsOfOthers += 1), 0);
    const result = await work();
    clearInterval(others);
    t.true(turnsOfOthers > 1, `${what} in one turn lets no timer run`);
    return result;
  };
  const { text } = await inSteps('a scrape', () => registry.expose());
  const measurements = await inSteps('what a worker tells', () => registry.measurements());
  const sums = new AddedUp();
  for (const worker of [1, 2]) sums.update(worker, measurements);
  const both = await inSteps('the sum of workers', () => sums.measurements([]));
  const counted = both.find(({ name }) => name === 'ref_proxy_tenant_requests_total');
  t.is(counted?.series.length, 2_001);
  t.is(
    counted?.series.reduce((sum, [, [value = 0]]) => sum + value, 0),
    20_000,
  );
  await inSteps('a push', async () => {
    // Batches are made lazily, when they are pulled.
    for await (const batch of batches(measurements, { startNs: 1n, nowNs: 2n }, 500))
      t.true(batch.length > 0);
  });
  const tenants = text.match(/^ref_proxy_tenant_requests_total\{/gm) ?? [];
  t.is(tenants.length, 2_001, 'one series more for all tenants beyond the bound');
  t.is(await registry.total('tenant_requests_total'), 10_000);
  const usual = measured({ metricsExportSensitiveLabels: true, metricsMaxTenants: 256 });
  for (let at = 0; at < 1_000; at += 1) {
    const one = record(`t${at}`);
    usual.metrics.started(one);
    usual.metrics.finished(one, 200, 20);
  }
  const { text: usualText } = await usual.registry.expose();
  t.is((usualText.match(/^ref_proxy_tenant_requests_total\{/gm) ?? []).length, 257);
});
