import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { request } from 'undici';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';

/** 2026-11-01T00:00:00Z. */
const baseNs = 1_793_491_200_000_000_000n;
const at = (seconds: number): string => String(baseNs + BigInt(seconds) * 1_000_000_000n);

interface Lie {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const json = 'application/json';
const time = '"_time":"2026-11-01T00:00:00Z"';
/** Responses that no VictoriaLogs sends, although each was once read as an empty answer, or as rows without fields. */
const lies: readonly Lie[] = [
  { status: 204, type: json, body: '' },
  { status: 226, type: json, body: '{"values":[]}' },
  { status: 200, type: 'text/html', body: '' },
  { status: 200, type: json, body: '{}' },
  { status: 200, type: json, body: '[]' },
  { status: 200, type: json, body: '42' },
  { status: 200, type: json, body: 'OK' },
  { status: 200, type: json, body: '{"error":"no"}' },
  { status: 200, type: json, body: '{"values":null}' },
  { status: 200, type: json, body: '{"values":[{"value":"app","hits":-1}]}' },
  { status: 200, type: json, body: '{"status":"success","data":{"resultType":"scalar","result":[]}}' },
  { status: 200, type: json, body: '{"_time":null}\n' },
  { status: 200, type: json, body: `{${time},"_stream":"{}","rows":5,"lines":5,"entries":5}\n` },
];

/** A server in front of an embedded backend that fakes the responses of one endpoint. */
class Liar {
  endpoint = '';
  lie: Lie | undefined;
  lies = 0;
  readonly #target: string;

  constructor(target: string) {
    this.#target = target;
  }

  async answer(asked: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { lie } = this;
    if (lie !== undefined && asked.url?.endsWith(`/${this.endpoint}`) === true) {
      this.lies += 1;
      response.writeHead(lie.status, { 'content-type': lie.type }).end(lie.body);
      return;
    }
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(`${this.#target}${asked.url ?? ''}`, {
      method: asked.method === 'POST' ? 'POST' : 'GET',
      headers: { 'content-type': asked.headers['content-type'] ?? 'text/plain' },
      ...(asked.method === 'POST' ? { body } : {}),
    });
    const type = String(headers['content-type'] ?? '');
    response.writeHead(statusCode, { 'content-type': type }).end(await answer.text());
  }
}

async function withLiar(target: string, use: (liar: Liar, url: string) => Promise<void>): Promise<void> {
  const liar = new Liar(target);
  const server = createServer((asked, response) => {
    const parts: Buffer[] = [];
    asked.on('data', (part: Buffer) => parts.push(part));
    asked.on('end', () => {
      liar
        .answer(asked, response, Buffer.concat(parts).toString())
        .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  try {
    await use(liar, `http://127.0.0.1:${port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const questions: readonly (readonly [path: string, params: Readonly<Record<string, string>>])[] = [
  ['labels', {}],
  ['label/env/values', {}],
  ['series', { 'match[]': '{app="a"}' }],
  ['query_range', { query: '{app="a"}' }],
  ['query_range', { query: '{app="a"} | json | took > 10' }],
  ['query_range', { query: '{app="a"} | trace="t1"' }],
  ['query_range', { query: 'sum by (env) (count_over_time({app=~".+"}[5m]))', step: '300' }],
  ['query_range', { query: 'sum by (detected_level) (count_over_time({app="a"} | json [5m]))', step: '300' }],
  ['query_range', { query: 'sum by (user) (count_over_time({app="a"} | json [5m]))', step: '300' }],
  [
    'query_range',
    { query: 'max by (env) (max_over_time({app="a"} | json | unwrap took [5m]))', step: '300' },
  ],
  ['query', { query: 'sum by (env) (rate({app=~".+"} |= "a" [1h]))', time: at(600) }],
  ['index/volume', { query: '{app=~".+"}' }],
  ['index/stats', { query: '{app=~".+"}' }],
  ['detected_fields', { query: '{app="a"}' }],
  ['patterns', { query: '{app="a"}' }],
];

interface Reply {
  readonly status: number;
  /** Without statistics, which contain timings. */
  readonly answer: unknown;
  readonly error: string;
}

async function ask(url: string, startSeconds: number): Promise<readonly Reply[]> {
  return Promise.all(
    questions.map(async ([path, params]) => {
      const range = { start: at(startSeconds), end: at(1800) };
      const query = new URLSearchParams({ ...range, ...params }).toString();
      const { statusCode, body } = await request(`${url}/loki/api/v1/${path}?${query}`);
      const document = (await body.json()) as {
        readonly data?: { stats?: unknown };
        readonly error?: string;
      };
      if (typeof document.data === 'object' && 'stats' in document.data) delete document.data.stats;
      return { status: statusCode, answer: document, error: document.error ?? '' };
    }),
  );
}

const line = (index: number): string =>
  JSON.stringify({ level: index % 3 === 0 ? 'error' : 'info', user: `u${index % 4}`, took: index });

const file = new URL('../../../../pipelines/reference-compatible.yaml', import.meta.url).pathname;

test.serial(
  'what no backend answers is told as that, and a proxy that was lied to answers as one that never was',
  async (t) => {
    t.timeout(120_000);
    const backend = await startDevBackend();
    t.teardown(() => backend.close());
    for (const env of ['prod', 'dev']) {
      const values = Array.from(
        { length: 30 },
        (_, index) => [BigInt(at(index * 20)), line(index), { trace: `t${index % 2}` }] as const,
      );
      await pushLoki(backend.url, { app: 'a', env }, values);
      await pushLoki(backend.url, { app: 'b', env }, values);
    }
    const flags = (url: string): Record<string, string> => ({ backend: url, 'rate-limit-per-second': '0' });
    const starts = lies.map((_, index) => -1800 - index);
    const truth = new Map<number, readonly Reply[]>();
    await withProxyFile(
      file,
      async ({ url }) => {
        for (const start of [...starts, -900]) truth.set(start, await ask(url, start));
      },
      { flags: flags(backend.url) },
    );
    t.true([...truth.values()].flat().every(({ status }) => status === 200));
    const told = new Set<string>();
    for (const [turn, endpoint] of endpoints.entries()) {
      await withLiar(backend.url, async (liar, address) => {
        await withProxyFile(
          file,
          async ({ url }) => {
            liar.endpoint = endpoint;
            for (const [index, lie] of lies.entries()) {
              // Each endpoint returns a part of the fake responses; the decoder tests cover all of them.
              if (index % 4 !== turn % 4) continue;
              liar.lie = lie;
              const start = starts[index] ?? 0;
              for (const [place, reply] of (await ask(url, start)).entries()) {
                const what = `${endpoint} ${JSON.stringify(lie)} ${JSON.stringify(questions[place])}`;
                if (reply.status === 200) {
                  t.deepEqual(reply.answer, truth.get(start)?.[place]?.answer, what);
                  continue;
                }
                told.add(endpoint);
                t.is(reply.status, 502, what);
                t.true(
                  reply.error.startsWith(
                    `unexpected response from the backend to /select/logsql/${endpoint}: `,
                  ),
                  `${what}: ${reply.error}`,
                );
              }
            }
            liar.lie = undefined;
            for (const start of [-900, starts[turn % 4] ?? 0])
              t.deepEqual(await ask(url, start), truth.get(start), `after lies about ${endpoint}`);
          },
          {
            flags: {
              ...flags(address),
              // With the inventory, names and values over an hour would be read from streams.
              'metadata-inventory-parallelism': endpoint.startsWith('stream_field') ? '0' : '4',
            },
          },
        );
        t.true(liar.lies > 0, endpoint);
      });
    }
    t.deepEqual([...told].sort(), [...endpoints].sort());
  },
);

const endpoints = [
  'query',
  'stats_query',
  'stats_query_range',
  'streams',
  'field_names',
  'stream_field_names',
  'stream_field_values',
];
