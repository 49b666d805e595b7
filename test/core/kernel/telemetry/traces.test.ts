/** Traces that a proxy pushes to a local receiver. */
import type { IncomingHttpHeaders } from 'node:http';
import test from 'ava';
import { request } from 'undici';
import { withProxyFile, type ProxyUnderTest } from '../../../../core/testing/index.js';
import { minimalPipeline } from '../../program/child.js';
import { decodeTraces } from './otlp/decode.js';
import { whileListening } from './otlp/listening.js';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly {
    readonly key: string;
    readonly value: Readonly<Record<string, string | number>>;
  }[];
}
interface Pushed {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: NonNullable<Span['attributes']> };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}
interface Heard {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A server that accepts and records every request. */
async function withServer(
  answer: (heard: Heard) => { readonly status: number; readonly type?: string; readonly body?: string },
  use: (url: string, heard: readonly Heard[]) => Promise<void>,
  isTls = false,
): Promise<void> {
  const heard: Heard[] = [];
  await whileListening(
    ({ url = '', headers }, body, response) => {
      const one = { path: url, headers, body };
      heard.push(one);
      const { status, type = 'application/json', body: text = '' } = answer(one);
      response.writeHead(status, { 'content-type': type }).end(text);
    },
    (url) => use(url, heard),
    isTls,
  );
}

/** A fake VictoriaLogs that counts one row, but returns no rows. */
function nothing({ path: asked }: Heard): {
  readonly status: number;
  readonly type: string;
  readonly body: string;
} {
  const counted = { metric: { __name__: 'rows' }, value: [0, '1'] };
  const body = asked.startsWith('/select/logsql/stats_query')
    ? JSON.stringify({ status: 'success', data: { resultType: 'vector', result: [counted] } })
    : '';
  return { status: 200, type: 'application/stream+json', body };
}

/** The spans and pushes that a receiver gets for the requests of `ask` until the proxy stops, and the calls of its backend. */
async function traced(
  flags: Readonly<Record<string, string>>,
  ask: (under: ProxyUnderTest) => Promise<void>,
  status = 200,
): Promise<{
  readonly spans: readonly Span[];
  readonly pushes: readonly Heard[];
  readonly calls: readonly Heard[];
}> {
  let found: Awaited<ReturnType<typeof traced>> = { spans: [], pushes: [], calls: [] };
  await withServer(
    () => ({ status }),
    async (receiver, pushes) => {
      await withServer(nothing, async (backend, calls) => {
        const all = { backend, 'otlp-traces-endpoint': receiver, ...flags };
        await withProxyFile(minimalPipeline, ask, { flags: all });
        found = { spans: pushes.flatMap(spansOf), pushes, calls };
      });
    },
  );
  return found;
}

function spansOf({ body }: Heard): readonly Span[] {
  return (decodeTraces(body) as Pushed).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  );
}

function attributesOf({ attributes = [] }: Pick<Span, 'attributes'>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value['stringValue'] ?? value['intValue']]),
  );
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';
const path = '/loki/api/v1/query_range?query=%7Bapp%3D%22secret%22%7D&start=1795216500&end=1795216560';

async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { statusCode, body } = await request(url + path, { headers });
  await body.dump();
  return statusCode;
}

test.serial(
  'a request is a span of the trace that it came with, with its stages and calls inside',
  async (t) => {
    const { spans, pushes, calls } = await traced(
      { 'otel-service-name': 'logs', 'otlp-headers': 'x-key=1' },
      async ({ url }) => {
        t.is(await get(url, { traceparent: `00-${traceId}-${parent}-01`, tracestate: 'vendor=5' }), 200);
      },
    );
    t.is(pushes[0]?.path, '/v1/traces');
    t.like(pushes[0]?.headers, { 'content-type': 'application/x-protobuf', 'x-key': '1' });
    const [{ resource } = { resource: { attributes: [] } }] = (
      decodeTraces(pushes[0]?.body ?? Buffer.alloc(0)) as Pushed
    ).resourceSpans;
    t.is(attributesOf(resource)['service.name'], 'logs');
    t.deepEqual([...new Set(spans.map((span) => span.traceId))], [traceId]);
    const server = spans.find(({ kind }) => kind === 2);
    t.is(server?.parentSpanId, parent);
    t.is(server?.name, 'GET /loki/api/v1/query_range');
    t.like(attributesOf(server ?? {}), {
      'http.route': '/loki/api/v1/query_range',
      'http.response.status_code': 200,
      'ref.request.type': 'query_range',
    });
    // Spans contain the query only if the log may show it.
    t.false(JSON.stringify(spans).includes('secret'));
    const named = (name: string): Span | undefined => spans.find((span) => span.name === name);
    const call = spans.find(({ name }) => name === 'POST /select/logsql/query');
    t.is(call?.kind, 3);
    const backend = named('stage backend');
    t.is(call?.parentSpanId, backend?.spanId);
    // The span of each stage is a child of the one before it, and the first one is a child of the request.
    let above: Span | undefined = backend;
    const names: string[] = [];
    while (above !== undefined && above !== server) {
      const { parentSpanId } = above;
      names.unshift(above.name);
      above = spans.find(({ spanId }) => spanId === parentSpanId);
    }
    t.is(above, server);
    t.is(names[0], 'stage tenancy');
    t.is(names.at(-1), 'stage backend');
    t.true(spans.every(({ startTimeUnixNano: from, endTimeUnixNano: to }) => BigInt(from) <= BigInt(to)));
    const asked = calls.find((one) => one.path === '/select/logsql/query');
    t.is(asked?.headers['traceparent'], `00-${traceId}-${call?.spanId ?? ''}-01`);
    t.is(asked?.headers['tracestate'], 'vendor=5');
  },
);

test.serial('what is not sampled is not pushed, but its trace is passed on', async (t) => {
  const { spans, calls } = await traced({}, async ({ url }) => {
    t.is(await get(url, { traceparent: `00-${traceId}-${parent}-00` }), 200);
  });
  t.deepEqual(spans, []);
  const asked = calls.find((one) => one.path === '/select/logsql/query');
  t.regex(String(asked?.headers['traceparent']), new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  const none = await traced({ 'otlp-traces-sample-ratio': '0' }, async ({ url }) => {
    t.is(await get(url), 200);
  });
  t.deepEqual(none.spans, []);
});

test.serial('a failure is marked, without its text', async (t) => {
  const { spans } = await traced({ backend: 'http://127.0.0.1:9' }, async ({ url }) => {
    t.is(await get(url), 502);
  });
  const server = spans.find(({ kind }) => kind === 2);
  t.is(server?.status?.code, 2);
  t.is(attributesOf(server ?? {})['http.response.status_code'], 502);
  const call = spans.find(({ kind }) => kind === 3);
  t.is(call?.status?.code, 2);
  t.is(attributesOf(call ?? {})['http.response.status_code'], undefined);
});

test.serial('without an endpoint nothing is traced, and a trace that came is not passed on', async (t) => {
  await withServer(nothing, async (backend, calls) => {
    const ask = async ({ url }: ProxyUnderTest): Promise<void> => {
      t.is(await get(url, { traceparent: `00-${traceId}-${parent}-01` }), 200);
    };
    await withProxyFile(minimalPipeline, ask, { flags: { backend } });
    t.false(calls.some(({ headers }) => 'traceparent' in headers));
  });
});

test.serial('a push that the receiver refuses is told once, and counted', async (t) => {
  let metrics = '';
  let told = 0;
  await traced(
    { 'server.register-instrumentation': 'true', 'otlp-timeout': '1s' },
    async ({ url, log }) => {
      t.is(await get(url), 200);
      const record = await log.find((one) => one.get('body') === 'the push of traces failed');
      t.is(record.get('component'), 'otlp_traces');
      metrics = await (await request(`${url}/metrics`)).body.text();
      told = log.records.filter((one) => one.get('body') === 'the push of traces failed').length;
    },
    400,
  );
  t.is(told, 1);
  t.regex(metrics, /^ref_proxy_trace_spans_total\{outcome="failed"\} [1-9]/m);
});

test.serial('over TLS a certificate that nobody knows is refused, unless it need not be known', async (t) => {
  await withServer(
    () => ({ status: 200 }),
    async (receiver, pushes) => {
      const flags = { backend: 'http://127.0.0.1:9', 'otlp-traces-endpoint': receiver };
      const ask = async ({ url }: ProxyUnderTest): Promise<void> => {
        t.is(await get(url), 502);
      };
      await withProxyFile(
        minimalPipeline,
        async (under) => {
          await ask(under);
          const record = await under.log.find((one) => one.get('body') === 'the push of traces failed');
          t.regex(JSON.stringify([...record]), /certificate/);
        },
        { flags },
      );
      t.is(pushes.length, 0);
      await withProxyFile(minimalPipeline, ask, { flags: { ...flags, 'otlp-tls-skip-verify': 'true' } });
      t.is(pushes[0]?.path, '/v1/traces');
      t.true(pushes.flatMap(spansOf).some(({ kind }) => kind === 2));
    },
    true,
  );
});
