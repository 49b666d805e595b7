import { once } from 'node:events';
import { createServer } from 'node:http';

/** Starts a healthy backend that never answers a query, while `use` runs. */
export async function withSilentBackend<Result>(use: (url: string) => Promise<Result>): Promise<Result> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/select/logsql/') === true) return;
    const body =
      request.url === '/select/buildinfo' ? '{"status":"success","data":{"version":"v1.52.0"}}' : 'OK';
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  try {
    return await use(`http://127.0.0.1:${address.port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
