import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { packageRoot } from '../../../core/kernel/options/index.js';

/** One request as vmalert received it. */
export interface Received {
  readonly path: string;
  readonly params: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}
export interface FakeVmalert {
  readonly url: string;
  readonly received: readonly Received[];
}

/** A recorded response of vmalert, byte for byte (test/data/rules/README.md). */
export function recording(name: string): Buffer {
  return readFileSync(join(packageRoot(), 'test', 'data', 'rules', `${name}.json`));
}

/** The recorded response of vmalert for these parameters. */
function recordingFor(path: string, params: URLSearchParams): readonly [status: number, body: Buffer] {
  if (path === '/api/v1/alerts') return [200, recording('alerts')];
  if (path !== '/api/v1/rules') return [404, Buffer.from('unsupported path')];
  if (params.get('type') === 'foo') return [400, recording('bad-type')];
  const [file, group] = [params.get('file[]'), params.get('rule_group[]')];
  if (file === null && group === null) return [200, recording('rules')];
  if (file === 'rules/checkout.yml' && group === null) return [200, recording('namespace')];
  if (file === 'rules/logs.yml' && group === 'logs/errors') return [200, recording('group')];
  return [200, recording('none')];
}

export type Respond = (path: string, params: URLSearchParams) => readonly [status: number, body: Buffer];

/** Starts a server that replays vmalert, or responds as configured, while a test uses it. */
export async function withVmalert<Result>(
  use: (vmalert: FakeVmalert) => Promise<Result>,
  respond: Respond = recordingFor,
): Promise<Result> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://vmalert');
    received.push({ path: url.pathname, params: url.searchParams, headers: request.headers });
    const [status, body] = respond(url.pathname, url.searchParams);
    // Status 0 means a service that never responds.
    if (status === 0) return;
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  try {
    return await use({ url: `http://127.0.0.1:${address.port}`, received });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
