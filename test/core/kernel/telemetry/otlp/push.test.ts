/** Metrics that a proxy pushes to a local receiver. */
import * as zlib from 'node:zlib';
import test from 'ava';
import { request } from 'undici';
import { withProxyFile, type ProxyUnderTest } from '../../../../../core/testing/index.js';
import { minimalPipeline } from '../../../program/child.js';
import { partialSuccess, statusOf } from './decode.js';
import {
  metricsOf,
  withReceiver,
  type Answered,
  type Answering,
  type Point,
  type Pushed,
} from './receiver.js';

/** A proxy that pushes every second. */
function pushing(
  flags: Readonly<Record<string, string>>,
  use: (under: ProxyUnderTest) => Promise<void>,
): Promise<void> {
  return withProxyFile(minimalPipeline, use, {
    flags: { backend: 'http://127.0.0.1:9', 'otlp-interval': '1s', ...flags },
  });
}

function attributesOf(
  attributes: Point['attributes'],
): Readonly<Record<string, string | number | undefined>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value['stringValue'] ?? value['intValue']]),
  );
}

const taken: Answering = () => ({ status: 200 });

test.serial('metrics are pushed while the scrape is off, under the attribute names of OTLP', async (t) => {
  await withReceiver(taken, async ({ url, has }) => {
    await pushing({ 'otlp-endpoint': url }, async (under) => {
      t.is((await request(`${under.url}/metrics`)).statusCode, 404);
      await (await request(`${under.url}/loki/api/v1/query?query=%7B`)).body.dump();
      const isOurs = ({ attributes }: Point): boolean =>
        attributesOf(attributes)['ref.request.type'] === 'query';
      const pushed = await has((one) =>
        metricsOf(one).some(
          ({ name, sum }) => name === 'ref_proxy_requests_total' && sum?.dataPoints.some(isOurs),
        ),
      );
      t.is(pushed.path, '/v1/metrics');
      t.is(pushed.headers['content-type'], 'application/x-protobuf');
      t.is(pushed.headers['content-encoding'], undefined);
      const metrics = new Map(metricsOf(pushed).map((metric) => [metric.name, metric]));
      const counted = metrics.get('ref_proxy_requests_total')?.sum;
      t.like(counted, { aggregationTemporality: 2, isMonotonic: true });
      const point = counted?.dataPoints.find(isOurs);
      t.is(point?.asDouble, 1);
      t.deepEqual(attributesOf(point?.attributes ?? []), {
        'ref.api.system': 'ref',
        'proxy.direction': 'downstream',
        'ref.request.type': 'query',
        'http.route': '/loki/api/v1/query',
        'http.response.status_code': 400,
      });
      t.true(BigInt(point?.startTimeUnixNano ?? 0) < BigInt(point?.timeUnixNano ?? 0));
      const timed = metrics.get('ref_proxy_request_duration_seconds')?.histogram?.dataPoints.find(isOurs);
      t.is(timed?.count, '1');
      t.is(timed?.bucketCounts?.length, (timed?.explicitBounds?.length ?? 0) + 1);
      t.is(
        timed?.bucketCounts?.reduce((sum, count) => sum + Number(count), 0),
        1,
      );
      t.true(
        (metrics.get('ref_proxy_process_resident_memory_bytes')?.gauge?.dataPoints[0]?.asDouble ?? 0) > 0,
      );
      t.deepEqual(
        [...metrics.keys()].filter((name) => !name.startsWith('ref_proxy_')),
        [],
      );
    });
  });
});

test.serial('a push names its service, and has the headers of the operator', async (t) => {
  await withReceiver(taken, async ({ url, has }) => {
    const flags = {
      'otlp-endpoint': `${url}/otlp/v1/`,
      'otlp-headers': 'Authorization=Basic YTpi==,X-Scope=team a',
      'otel-service-name': 'logs',
      'otel-service-namespace': 'shop',
      'otel-service-instance-id': 'one',
      'deployment-environment': 'test',
    };
    await pushing(flags, async () => {
      const { path, headers, document } = await has(() => true);
      t.is(path, '/otlp/v1/metrics');
      t.like(headers, { authorization: 'Basic YTpi==', 'x-scope': 'team a' });
      t.deepEqual(attributesOf(document.resourceMetrics[0]?.resource.attributes ?? []), {
        'service.name': 'logs',
        'service.namespace': 'shop',
        'service.instance.id': 'one',
        'deployment.environment.name': 'test',
      });
    });
  });
});

test.serial('headers of a push that no header can be are refused without showing them', async (t) => {
  const flags = { 'otlp-endpoint': 'http://127.0.0.1:9', 'otlp-headers': 'Bad Name=geheim' };
  const error = await t.throwsAsync(pushing(flags, () => Promise.resolve()));
  t.regex(error.message, /otlp-headers/);
  t.notRegex(error.message, /geheim/);
});

test.serial('pushes are compressed with gzip', async (t) => {
  await withReceiver(taken, async ({ url, has }) => {
    await pushing({ 'otlp-endpoint': url, 'otlp-compression': 'gzip' }, async () => {
      const pushed = await has(() => true);
      t.is(pushed.headers['content-encoding'], 'gzip');
      t.true(metricsOf(pushed).length > 10);
    });
  });
});

test.serial('pushes are compressed with zstd, where Node has it; elsewhere the start says so', async (t) => {
  await withReceiver(taken, async ({ url, has }) => {
    const flags = { 'otlp-endpoint': url, 'otlp-compression': 'zstd' };
    if (!('zstdCompress' in zlib)) {
      const message = /^-otlp-compression: zstd needs Node 22\.15 or newer, and this is Node \S+; use gzip$/;
      await t.throwsAsync(
        pushing(flags, () => Promise.resolve()),
        { message },
      );
      return;
    }
    await pushing(flags, async () => {
      const pushed = await has(() => true);
      t.is(pushed.headers['content-encoding'], 'zstd');
      t.true(metricsOf(pushed).length > 10);
    });
  });
});

test.serial('a push is tried again when the receiver is busy, and the log says nothing of it', async (t) => {
  const busy: Answering = (at) =>
    at === 0 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 200 };
  await withReceiver(busy, async ({ url, has, pushed }) => {
    await pushing({ 'otlp-endpoint': url }, async ({ log }) => {
      const told = await has((one) => retriesIn(one) === 1);
      t.true(pushed.indexOf(told) >= 2);
      t.deepEqual(pushed[1]?.bytes, pushed[0]?.bytes);
      t.deepEqual(
        log.records.filter((record) => record.get('component') === 'otlp_metrics'),
        [],
      );
    });
  });
});

function retriesIn(pushed: Pushed): number | undefined {
  const metric = metricsOf(pushed).find(({ name }) => name === 'ref_proxy_otlp_push_retries_total');
  return metric?.sum?.dataPoints[0]?.asDouble;
}

test.serial('a push that fails is told by otlp_metrics, and that they are pushed again', async (t) => {
  const answers: readonly Answered[] = [
    { status: 400, body: 'no such tenant' },
    { status: 400, body: statusOf(3, 'no such scope') },
    { status: 307, headers: { location: 'http://127.0.0.1:9/' } },
    { status: 200, body: partialSuccess(3, 'too old') },
  ];
  await withReceiver(
    (at) => answers[at] ?? { status: 200 },
    async ({ url }) => {
      await pushing({ 'otlp-endpoint': url.replace('//', '//user:geheim@') }, async ({ log }) => {
        const record = (field: string, value: unknown): ReturnType<typeof log.find> =>
          log.find((one) => one.get('component') === 'otlp_metrics' && one.get(field) === value);
        const failed = await record('http.response.status_code', 400);
        t.is(failed.get('severity.text'), 'WARN');
        t.is(failed.get('error.message'), 'it answered with status 400: no such tenant');
        t.is(failed.get('url.full'), `${url}/v1/metrics`);
        await record('error.message', 'it answered with status 400: no such scope');
        await record('error.message', 'it answered with status 307');
        t.is((await record('otlp.rejected_data_points', 3)).get('error.message'), 'too old');
        await record('body', 'the push of metrics works again');
        t.notRegex(JSON.stringify(log.records.map((one) => [...one])), /geheim/);
      });
    },
  );
});

test.serial('a receiver that never answers holds neither the next push nor the stop', async (t) => {
  await withReceiver(
    () => undefined,
    async ({ url, has }) => {
      await pushing({ 'otlp-endpoint': url, 'otlp-timeout': '50ms' }, async (under) => {
        const late = await under.log.find((one) => one.get('component') === 'otlp_metrics');
        t.is(late.get('error.message'), 'timeout after 50 ms');
        await has((_one, at) => at === 1);
      });
      await pushing({ 'otlp-endpoint': url, 'otlp-timeout': '10m' }, async (under) => {
        await has((_one, at) => at === 2);
        t.is((await request(`${under.url}/alive`)).statusCode, 200);
      });
    },
  );
});

test.serial('of an answer 64 KiB are read', async (t) => {
  const answers = [70_000, 60_000].map((length) => ({ status: 200, body: Buffer.alloc(length) }));
  await withReceiver(
    (at) => answers[at] ?? { status: 200 },
    async ({ url }) => {
      await pushing({ 'otlp-endpoint': url }, async ({ log }) => {
        const failed = await log.find((one) => one.get('component') === 'otlp_metrics');
        t.is(failed.get('error.message'), 'its answer is larger than 65536 bytes');
        t.truthy(await log.find((one) => one.get('body') === 'the push of metrics works again'));
      });
    },
  );
});

test.serial('a stop pushes what was measured last', async (t) => {
  await withReceiver(taken, async ({ url, pushed }) => {
    await pushing({ 'otlp-endpoint': url, 'otlp-interval': '1h' }, async (under) => {
      await (await request(`${under.url}/loki/api/v1/query?query=%7B`)).body.dump();
      t.is(pushed.length, 0);
    });
    t.is(pushed.length, 1);
    const metrics = pushed.flatMap(metricsOf);
    const points = metrics.find(({ name }) => name === 'ref_proxy_requests_total')?.sum?.dataPoints ?? [];
    t.is(
      points.find(({ attributes }) => attributesOf(attributes)['ref.request.type'] === 'query')?.asDouble,
      1,
    );
  });
});

test.serial('the certificate of a receiver is verified unless that is switched off', async (t) => {
  await withReceiver(
    taken,
    async ({ url, has, pushed }) => {
      await pushing({ 'otlp-endpoint': url }, async ({ log }) => {
        const failed = await log.find((one) => one.get('component') === 'otlp_metrics');
        t.regex(String(failed.get('error.message')), /certificate/);
        t.is(pushed.length, 0);
      });
      await pushing({ 'otlp-endpoint': url, 'otlp-tls-skip-verify': 'true' }, async () => {
        t.is((await has(() => true)).path, '/v1/metrics');
      });
    },
    true,
  );
});
