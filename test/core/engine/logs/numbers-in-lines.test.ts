import test from 'ava';
import { request as send } from 'undici';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile } from '../../../../core/testing/index.js';

/** Lines for which Loki passes a numeric comparison, or whose number is not where it seems to be. */
const unlike = [
  'status=7',
  '{"status":7," status":600}',
  '{"st\\u0061tus":700,"n":1}',
  '{"status":7,"status":8}',
  '{"status":7,"n":+1}',
  '{"status":[7]}',
  '{"status":{"status":700}}',
  '{"status":"7s"}',
  '{"status":7',
  '{"status":5e2}',
];
const rows = 3000;
const startMs = Date.UTC(2026, 10, 1);
const atMs = (index: number): number => startMs + index * 200;
const oddAt = 1500;

function lineOf(index: number): string {
  const status = index % 97 === 0 ? 500 : 200 + (index % 7);
  return `{"n":${index},"status":${index % 2 === 0 ? `"${status}"` : status},"to":"items/${index % 13}"}`;
}

test('rows that are not sent, because numbers in their lines fail, are not in the answer either', async (t) => {
  t.timeout(300_000);
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  const push = async (app: string, values: readonly (readonly [string, string])[]): Promise<void> => {
    const body = JSON.stringify({ streams: [{ stream: { app }, values }] });
    const headers = { 'content-type': 'application/json' };
    const url = new URL('/insert/loki/api/v1/push?disable_message_parsing=1', backend.url);
    const { statusCode, body: answer } = await send(url, { method: 'POST', headers, body });
    t.true(statusCode < 300, await answer.text());
  };
  const valuesOf = (odd?: string): (readonly [string, string])[] =>
    Array.from({ length: rows }, (_, n) => [
      `${atMs(n)}000000`,
      n === oddAt ? (odd ?? lineOf(n)) : lineOf(n),
    ]);
  await push('alike', valuesOf());
  for (const [index, line] of unlike.entries()) await push(`odd-${index}`, valuesOf(line));

  const base = { backend: backend.url, 'rate-limit-per-second': '0' };
  await withProxyFile(
    'pipelines/minimal.yaml',
    async (on) => {
      await withProxyFile(
        'pipelines/minimal.yaml',
        async (off) => {
          const ask = async (url: string, query: string, direction: string): Promise<unknown> => {
            const range = { start: `${startMs}000000`, end: `${atMs(rows)}000000` };
            const body = new URLSearchParams({ query, direction, limit: '200', ...range }).toString();
            const headers = { 'content-type': 'application/x-www-form-urlencoded' };
            const answer = await send(`${url}/loki/api/v1/query_range`, { method: 'POST', headers, body });
            const { status, data } = (await answer.body.json()) as {
              status: string;
              data: { result: unknown };
            };
            t.is(status, 'success');
            return data.result;
          };
          for (const app of ['alike', ...unlike.map((_, index) => `odd-${index}`)])
            for (const [filter, direction] of [
              ['status >= 500', 'backward'],
              ['status > 400 and to!="items/1"', 'backward'],
              ['status < 0 or status == 500', 'forward'],
            ] as const) {
              const query = `{app="${app}"} | json | ${filter}`;
              t.deepEqual(await ask(on.url, query, direction), await ask(off.url, query, direction), query);
            }
        },
        { flags: { ...base, pushdown: 'off' } },
      );
    },
    { flags: base },
  );
});
