import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { metric } from './stored.js';

export async function count(url: string, name: string): Promise<number> {
  return Number((await metric(url, name)) ?? 0);
}

/** A row count of one. */
const oneRow = JSON.stringify({
  status: 'success',
  data: { resultType: 'vector', result: [{ metric: { __name__: 'rows' }, value: [1, '1'] }] },
});

/** A backend whose only line identifies the caller, so that answers for another caller are detected. */
export interface Telltale {
  readonly url: string;
  readonly calls: () => number;
}

export async function startTelltale(t: ExecutionContext): Promise<Telltale> {
  let calls = 0;
  const server: Server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '/', 'http://backend');
      if (url.pathname === '/select/logsql/stats_query') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(oneRow);
        return;
      }
      if (url.pathname !== '/select/logsql/query') return void response.writeHead(404).end();
      calls += 1;
      const query = new URLSearchParams(body).get('query') ?? url.searchParams.get('query') ?? '';
      const app = /"?app"?[^a-z]+([a-z]+\d+)/.exec(query)?.[1] ?? '';
      const { accountid, authorization } = request.headers;
      const line = {
        _time: new Date(Date.now() - 7_200_000).toISOString(),
        _stream: `{app="${app}"}`,
        _stream_id: '0',
        _msg: `account=${String(accountid)} credentials=${String(authorization)} app=${app}`,
        app,
      };
      response.writeHead(200, { 'content-type': 'application/stream+json' }).end(`${JSON.stringify(line)}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A query for logs of a past hour, which `Telltale` answers. */
export function pathOf(app: string): string {
  const endMs = Date.now() - (Date.now() % 3_600_000) - 3_600_000;
  const query = new URLSearchParams({
    query: `{app="${app}"}`,
    start: `${endMs - 3_600_000}000000`,
    end: `${endMs}000000`,
  });
  return `/loki/api/v1/query_range?${query.toString()}`;
}
