import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';

// Without the guard, which rejects requests while the process is strained.
const pipeline = `
version: 1
stages:
  - use: tenancy
  - use: translate
  - use: backend
  - use: response-shape
endpoints:
  - use: reference-api
`;
const statistics = '/select/logsql/stats_query_range';

/** A backend that holds range statistics until `held` of them are in flight, and records the maximum. */
async function slowBackend(t: ExecutionContext, held: number) {
  const backend = await startDevBackend();
  let running = 0;
  let most = 0;
  let isHeld = true;
  const waiting: (() => void)[] = [];
  // Runs shortly after the last expected request, so that one more could arrive; the failsafe covers fewer requests.
  const release = (): void => {
    isHeld = false;
    for (const send of waiting.splice(0)) send();
  };
  const failsafe = setTimeout(release, 30_000);
  t.teardown(() => clearTimeout(failsafe));
  const server = createServer((request, response) => {
    const isCounted = request.url === statistics;
    if (isCounted) {
      running += 1;
      most = Math.max(most, running);
    }
    const { method, headers, url = '' } = request;
    const forward = ask(backend.url + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      const send = (): void => {
        if (isCounted) running -= 1;
        answer.pipe(response);
      };
      if (isCounted && isHeld) waiting.push(send);
      else send();
      if (isHeld && waiting.length === held) setTimeout(release, 300);
    });
    request.pipe(forward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await backend.close();
  });
  const { port } = server.address() as AddressInfo;
  return { backend, url: `http://127.0.0.1:${port}`, most: () => most };
}

async function mostAtOnce(
  t: ExecutionContext,
  held: number,
  flags: Readonly<Record<string, string>>,
  tags?: string,
): Promise<number> {
  const { backend, url: behind, most } = await slowBackend(t, held);
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  await pushLoki(backend.url, { app: 'a' }, [[nowNs - 60_000_000_000n, 'one']]);
  await withProxy(
    pipeline,
    async ({ url }) => {
      const answers = Array.from({ length: 12 }, async (_none, index) => {
        const params = new URLSearchParams({
          query: `sum(count_over_time({app="a"} != "x${index}" [1m]))`,
          start: String(nowNs - 600_000_000_000n),
          end: String(nowNs),
          step: '60',
        });
        const answer = await fetch(`${url}/loki/api/v1/query_range?${params.toString()}`, {
          headers: tags === undefined ? {} : { 'x-query-tags': tags },
        });
        const text = await answer.text();
        t.is(answer.status, 200, text);
        t.regex(text, /"1"\]/);
      });
      await Promise.all(answers);
    },
    { flags: { ...flags, backend: behind } },
  );
  return most();
}

const cases: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
  [{}, 4],
  [{ 'stats-query-range-concurrency': '2' }, 2],
  [{ 'stats-query-range-concurrency': '9' }, 9],
];
for (const [flags, expected] of cases)
  test.serial(
    `statistics over time of all callers run ${expected} at once with ${JSON.stringify(flags)}`,
    async (t) => {
      t.is(await mostAtOnce(t, expected, flags), expected);
      t.is(
        await mostAtOnce(
          t,
          expected,
          { ...flags, 'stats-query-range-inter-query-delay-ms': '0' },
          'Source=grafana-lokiexplore-app',
        ),
        expected,
      );
    },
  );
