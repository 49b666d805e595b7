/** Limits that apply to all workers together. */
import type { Server } from 'node:http';
import test from 'ava';
import { Agent, request } from 'undici';
import { backendThat, metrics, seriesIn, startWorkers, stop, type UnderTest } from './workers-under.js';

const burst = 50;
const cap = 4;

/** A fake backend that holds its responses until the test releases them, and records the requests in flight. */
const held = { names: new Set<string>(), most: 0, answer: [] as (() => void)[], isOpen: false };
/** Responses of VictoriaLogs without data. */
const nothing: Readonly<Record<string, string>> = {
  '/select/logsql/query': '',
  '/select/logsql/stats_query': '{"status":"success","data":{"resultType":"vector","result":[]}}',
};
let backend: { readonly url: string; readonly server: Server };
let under: UnderTest;

test.before(async () => {
  backend = await backendThat((asked, response) => {
    let text = asked.url ?? '';
    asked.on('data', (part: Buffer) => (text += part.toString()));
    asked.on('end', () => {
      const name = /slow_\d+/.exec(decodeURIComponent(text))?.[0];
      const answer = (): void => {
        if (name !== undefined) held.names.delete(name);
        response
          .setHeader('Content-Type', 'application/json')
          .end(nothing[asked.url ?? ''] ?? '{"values":[]}');
      };
      if (name === undefined || held.isOpen) {
        answer();
        return;
      }
      held.names.add(name);
      held.most = Math.max(held.most, held.names.size);
      held.answer.push(answer);
    });
  });
  under = await startWorkers(
    backend.url,
    // One token in 17 minutes, so none is added while the test runs.
    '-rate-limit-per-second=0.001',
    `-rate-limit-burst=${burst}`,
    `-max-concurrent=${cap}`,
  );
});
test.after.always(async () => {
  under.child.kill('SIGKILL');
  backend.server.closeAllConnections();
  await new Promise((resolve) => backend.server.close(resolve));
});

/** Connections from another client address, which has tokens of its own. */
function from(localAddress: string, connections: number): Agent {
  return new Agent({ localAddress, connections, pipelining: 1 });
}

/** The path of a query for the lines of an app; an empty response is valid too. */
function lines(app: string): string {
  return `/loki/api/v1/query_range?query=${encodeURIComponent(`{app="${app}"}`)}`;
}

async function ask(path: string, dispatcher: Agent): Promise<number> {
  const { statusCode, body } = await request(under.url + path, { dispatcher });
  await body.dump();
  return statusCode;
}

test.serial('a burst over many connections passes as often as with one process', async (t) => {
  const client = from('127.0.0.2', 40);
  const wave = (): Promise<readonly number[]> =>
    Promise.all(Array.from({ length: 100 }, () => ask('/loki/api/v1/format_query?query={a="b"}', client)));
  const statuses: number[] = [];
  // A worker returns unused borrowed tokens after a moment, so a few requests may pass late.
  const passed = (some: readonly number[]): number => some.filter((status) => status !== 429).length;
  while (statuses.length < 200 || passed(statuses.slice(-100)) > 0) statuses.push(...(await wave()));
  t.is(passed(statuses), burst);
  await client.close();
  const text = await metrics(under);
  t.is(seriesIn(text, 'guard_rejected_total{reason="rate"}'), statuses.length - burst);
});

test.serial('no more requests are in flight than with one process', async (t) => {
  const client = from('127.0.0.3', 20);
  const asked = Array.from({ length: 20 }, (_, at) => ask(lines(`slow_${at}`), client));
  const refused: number[] = [];
  for (const one of asked) void one.then((status) => refused.push(status));
  while (refused.length === 0 || held.names.size === 0)
    await new Promise((resolve) => setTimeout(resolve, 10));
  for (let turn = 0; turn < 5; turn += 1) t.true(seriesIn(await metrics(under), 'guard_in_flight') <= cap);
  t.deepEqual([...new Set(refused)], [503]);
  held.isOpen = true;
  for (const answer of held.answer) answer();
  const statuses = await Promise.all(asked);
  t.deepEqual([...new Set(statuses)].sort(), [200, 503]);
  t.true(held.most <= cap, String(held.most));
  // All permits are free again, on every worker.
  for (let turn = 0; turn < 20; turn += 1)
    t.is(await ask(lines('fast'), new Agent({ localAddress: '127.0.0.4' })), 200);
  await client.close();
});

test.serial('limits leave nothing behind when all end', async (t) => {
  t.deepEqual(await stop(under), [0, null]);
});
