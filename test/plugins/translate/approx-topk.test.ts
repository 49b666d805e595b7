import test from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile } from '../../../core/testing/index.js';

const pipeline = 'pipelines/reference-compatible.yaml';
const tenantMap = JSON.stringify({
  t1: { account_id: '1', project_id: '0' },
  t2: { account_id: '2', project_id: '0' },
});
const seconds = 1793491200;

test('with -approx-topk=exact a Loki’s approx_topk is answered, of one tenant and of several', async (t) => {
  const backend = await startDevBackend();
  try {
    for (const [account, pods] of [
      ['1', ['a', 'a', 'b']],
      ['2', ['b', 'b', 'c']],
    ] as const)
      await fetch(`${backend.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accountid: account },
        body: JSON.stringify({
          streams: pods.map((pod, index) => ({
            stream: { app: 'x', pod },
            values: [[`${seconds - 10 + index}000000000`, 'line']],
          })),
        }),
      });
    const query = 'approx_topk(1, sum by (pod) (count_over_time({app="x"}[1m])))';
    const ask = async (flag: string, tenant: string, path: string): Promise<unknown> =>
      withProxyFile(
        pipeline,
        async ({ url }) => {
          const parameters = new URLSearchParams({
            query,
            time: `${seconds}`,
            end: `${seconds}`,
            start: `${seconds - 60}`,
          });
          const answer = await fetch(`${url}/loki/api/v1/${path}?${parameters.toString()}`, {
            headers: { 'x-scope-orgid': tenant },
          });
          const body = (await answer.json()) as {
            readonly data?: {
              readonly result: readonly { readonly metric: unknown; readonly value: unknown }[];
            };
            readonly error?: string;
          };
          return body.data?.result.map(({ metric, value }) => [metric, value]) ?? [answer.status, body.error];
        },
        { flags: { backend: backend.url, 'tenant-map': tenantMap, 'approx-topk': flag } },
      );
    t.deepEqual(await ask('exact', 't1', 'query'), [[{ pod: 'a' }, [seconds, '2']]]);
    t.deepEqual(await ask('exact', 't1|t2', 'query'), [[{ pod: 'b' }, [seconds, '3']]]);
    for (const tenant of ['t1', 't1|t2']) {
      t.deepEqual(await ask('loki', tenant, 'query'), [
        500,
        'approx_topk is not enabled. See -limits.shard_aggregations',
      ]);
      t.deepEqual(await ask('exact', tenant, 'query_range'), [
        500,
        'count min sketches are only supported on instant queries',
      ]);
    }
  } finally {
    await backend.close();
  }
});
