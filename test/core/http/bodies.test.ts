import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { request } from 'undici';
import { apiError } from '../../../core/plugin/index.js';
import { LogqlError } from '../../../core/logql/error.js';
import { makePipeline, withPipeline } from '../../../core/testing/index.js';
import { serving, telling, text } from './fixtures.js';

const form = { 'content-type': 'application/x-www-form-urlencoded' };

test('form and URL parameters are merged, form first, repeated values kept in order', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ series: telling })] }), async ({ url }) => {
    const { body } = await request(`${url}/loki/api/v1/series?match=c&start=1&match=d`, {
      method: 'POST',
      headers: form,
      body: 'match=a+1&match=b%7B&end=2',
    });
    t.like(await body.json(), {
      params: [
        ['match', ['a 1', 'b{', 'c', 'd']],
        ['end', ['2']],
        ['start', ['1']],
      ],
    });
  });
});

test('a body of another type gives no parameters', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ series: telling })] }), async ({ url }) => {
    const headers = { 'content-type': 'application/json' };
    const { body } = await request(`${url}/loki/api/v1/series?a=1`, { method: 'POST', headers, body: 'b=2' });
    t.like(await body.json(), { params: [['a', ['1']]] });
  });
});

test('a body over the limit is refused, announced or not', async (t) => {
  const pipeline = makePipeline({
    endpoints: [serving({ query: telling })],
    server: { httpMaxBodyBytes: 10 },
  });
  await withPipeline(pipeline, async ({ url }) => {
    const announced = await request(`${url}/loki/api/v1/query`, {
      method: 'POST',
      headers: form,
      body: 'query=12345',
    });
    t.is(announced.statusCode, 413);
    t.like(await announced.body.json(), {
      error: 'request body exceeds 10 bytes; raise -http-max-body-bytes',
    });
    const chunks = Readable.from([Buffer.from('query='), Buffer.from('12345')]);
    const streamed = await request(`${url}/loki/api/v1/query`, {
      method: 'POST',
      headers: form,
      body: chunks,
    });
    t.is(streamed.statusCode, 413);
    t.is(streamed.headers['connection'], 'close');
    await streamed.body.dump();
    const whole = await request(`${url}/loki/api/v1/query`, {
      method: 'POST',
      headers: form,
      body: 'query=1234',
    });
    t.is(whole.statusCode, 200);
    await whole.body.dump();
  });
});

test('headers over the limit are refused', async (t) => {
  const pipeline = makePipeline({
    endpoints: [serving({ labels: telling })],
    server: { httpMaxHeaderBytes: 1000 },
  });
  await withPipeline(pipeline, async ({ url }) => {
    const { statusCode, body } = await request(`${url}/loki/api/v1/labels`, {
      headers: { 'x-long': 'x'.repeat(2000) },
    });
    t.is(statusCode, 431);
    await body.dump();
  });
});

const failing = serving({
  query: () =>
    Promise.reject(new LogqlError('parse error at line 1, col 1: syntax error: unexpected IDENTIFIER')),
  series: () => Promise.reject(apiError('rateLimited', {})),
  labels: () => Promise.reject(apiError('backendRefused', { cause: 'too many' }, { status: 429 })),
  push: () => Promise.reject(apiError('writeBlocked', {})),
  index_stats: () => Promise.reject(new TypeError('secret detail')),
});

test('errors have the bodies of the error table', async (t) => {
  await withPipeline(makePipeline({ endpoints: [failing] }), async ({ url, log }) => {
    const ask = async (path: string): Promise<readonly [number, string | string[] | undefined, string]> => {
      const { statusCode, headers, body } = await request(`${url}/loki/api/v1/${path}`);
      return [statusCode, headers['content-type'], await body.text()];
    };
    const parse = 'parse error at line 1, col 1: syntax error: unexpected IDENTIFIER';
    t.deepEqual(await ask('query'), [
      400,
      'application/json',
      `{"status":"error","errorType":"bad_data","error":"${parse}","message":"${parse}"}\n`,
    ]);
    t.deepEqual(await ask('series'), [
      429,
      'application/json',
      '{"status":"error","errorType":"bad_data","error":"rate limit exceeded","message":"rate limit exceeded"}\n',
    ]);
    t.deepEqual(await ask('labels'), [
      429,
      'application/json',
      '{"status":"error","errorType":"bad_data","error":"too many","message":"too many"}\n',
    ]);
    const [status, , blocked] = await ask('push');
    t.is(status, 405);
    t.regex(
      blocked,
      /^\{"status":"error","errorType":"bad_data","error":"write operations are not supported.*"message":"write/,
    );
    const [internal, , shown] = await ask('index/stats');
    t.is(internal, 500);
    t.false(shown.includes('secret detail'));
    const record = await log.find((line) => line.get('ref.request.type') === 'index_stats');
    t.is(record.get('error.message'), 'secret detail');
  });
});

test('the message field can be left out', async (t) => {
  const pipeline = makePipeline({ endpoints: [failing], server: { errorResponseMessageField: false } });
  await withPipeline(pipeline, async ({ url }) => {
    const { body } = await request(`${url}/loki/api/v1/labels`);
    t.deepEqual(await body.json(), { status: 'error', errorType: 'bad_data', error: 'too many' });
  });
});

const long = 'log line '.repeat(500);
const compressing = serving({
  labels: () => Promise.resolve(text(long)),
  ready: () => Promise.resolve(text('short')),
  config: () =>
    Promise.resolve({ ...text('packed'.repeat(500)), headers: new Map([['Content-Encoding', 'br']]) }),
});

test('long answers are gzipped for clients that take it, once, and say that they vary', async (t) => {
  await withPipeline(makePipeline({ endpoints: [compressing] }), async ({ url }) => {
    const headers = { 'accept-encoding': 'gzip, deflate' };
    const packed = await request(`${url}/loki/api/v1/labels`, { headers });
    t.is(packed.headers['content-encoding'], 'gzip');
    t.is(packed.headers['vary'], 'Accept-Encoding');
    t.is(gunzipSync(Buffer.from(await packed.body.arrayBuffer())).toString(), long);
    const plain = await request(`${url}/loki/api/v1/labels`, { headers: { 'accept-encoding': 'gzip;q=0' } });
    t.is(plain.headers['content-encoding'], undefined);
    t.is(await plain.body.text(), long);
    const short = await request(`${url}/ready`, { headers });
    t.is(short.headers['content-encoding'], undefined);
    await short.body.dump();
    const encoded = await request(`${url}/config`, { headers });
    t.is(encoded.headers['content-encoding'], 'br');
    await encoded.body.dump();
  });
});

for (const server of [{ responseCompression: 'none' }, { responseGzip: false }] as const)
  test(`compression can be turned off by ${Object.keys(server).join()}`, async (t) => {
    const pipeline = makePipeline({ endpoints: [compressing], server });
    await withPipeline(pipeline, async ({ url }) => {
      const { headers, body } = await request(`${url}/loki/api/v1/labels`, {
        headers: { 'accept-encoding': 'gzip' },
      });
      t.is(headers['content-encoding'], undefined);
      await body.dump();
    });
  });

test('with streamResponse log answers come in chunks, other answers with their length', async (t) => {
  const streams = `{"status":"success","data":{"resultType":"streams","result":["${'line '.repeat(50_000)}"]}}`;
  const matrix = '{"status":"success","data":{"resultType":"matrix","result":[]}}';
  const endpoint = serving({
    labels: () => Promise.resolve(text(streams)),
    ready: () => Promise.resolve(text(matrix)),
  });
  const headers = { 'accept-encoding': 'identity' };
  for (const streamResponse of [true, false]) {
    await withPipeline(
      makePipeline({ endpoints: [endpoint], server: { streamResponse } }),
      async ({ url }) => {
        const logs = await request(`${url}/loki/api/v1/labels`, { headers });
        t.is(logs.headers['transfer-encoding'], streamResponse ? 'chunked' : undefined);
        t.is(logs.headers['content-length'], streamResponse ? undefined : String(streams.length));
        t.is(await logs.body.text(), streams);
        const other = await request(`${url}/ready`, { headers });
        t.is(other.headers['content-length'], String(matrix.length));
        await other.body.dump();
        const packed = await request(`${url}/loki/api/v1/labels`, { headers: { 'accept-encoding': 'gzip' } });
        t.is(gunzipSync(Buffer.from(await packed.body.arrayBuffer())).toString(), streams);
      },
    );
  }
});

test('every response has the security headers, errors too', async (t) => {
  await withPipeline(makePipeline({ endpoints: [compressing] }), async ({ url }) => {
    for (const path of ['/ready', '/nosuch']) {
      const { headers, body } = await request(url + path);
      t.like(headers, {
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store, no-cache, must-revalidate, max-age=0',
        pragma: 'no-cache',
        expires: '0',
      });
      await body.dump();
    }
  });
});

test('more parameters than any client sends are refused', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ query: telling })] }), async ({ url }) => {
    const body = '&a'.repeat(10_001);
    const flood = await request(`${url}/loki/api/v1/query`, { method: 'POST', headers: form, body });
    t.is(flood.statusCode, 400);
    t.like(await flood.body.json(), { error: 'the request has more than 10000 parameters; send fewer' });
  });
});

test('a push is refused without reading what is pushed', async (t) => {
  const pipeline = makePipeline({ endpoints: [failing], server: { httpMaxBodyBytes: 10 } });
  await withPipeline(pipeline, async ({ url }) => {
    const { statusCode, body } = await request(`${url}/loki/api/v1/push`, {
      method: 'POST',
      body: 'x'.repeat(1000),
    });
    t.is(statusCode, 405);
    await body.dump();
  });
});
