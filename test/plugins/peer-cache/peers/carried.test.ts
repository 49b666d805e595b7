import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { Agent, request } from 'undici';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { metric } from '../stored.js';
import { ask, callsOf, filled, oldNs, pathOf, withFleet, type Replica } from './fleet.js';
import { until } from '../../../setup/until.js';

const hourNs = 3_600_000_000_000n;
const isCalm = async ({ url }: Replica): Promise<boolean> =>
  (await metric(url, 'peer_cache_write_through_waiting_bytes')) === '0';

/** Past ranges, shifted or not, that share windows and buckets but no answers. */
function paths(shiftNs: bigint): readonly string[] {
  const range = { start: String(oldNs - 6n * hourNs - shiftNs), end: String(oldNs + hourNs - shiftNs) };
  const of = (params: Readonly<Record<string, string>>): string =>
    new URLSearchParams({ ...range, ...params }).toString();
  return [
    `query_range?${of({ query: 'sum by (app) (count_over_time({app=~".+"}[5m]))', step: '60' })}`,
    `query_range?${of({ query: '{app="a"}', limit: '100' })}`,
    `labels?${of({})}`,
    `label/app/values?${of({})}`,
    `series?${of({ 'match[]': '{app="a"}' })}`,
  ].map((path) => `/loki/api/v1/${path}`);
}

test.serial(
  'windows of long ranges and buckets of listings are carried too, and come out as the backend has them',
  async (t) => {
    const backend = await filled(t);
    const asked = async (others: boolean): Promise<number> => {
      let calls = 0;
      const stages = '  - use: window-split';
      await withFleet({ backend: backend.url, replicas: 2, stages }, async ([first, second]) => {
        if (first === undefined || second === undefined) return t.fail();
        if (others) for (const path of paths(0n)) await ask(first, path);
        await until(() => isCalm(first));
        const before = callsOf(backend);
        // The same windows and buckets in other ranges.
        const answers: string[] = [];
        for (const path of paths(60_000_000_000n)) answers.push(await ask(second, path));
        calls = callsOf(backend) - before;
        t.deepEqual(
          answers.map((answer) => answer.includes('a')),
          Array.from(answers, () => true),
        );
        await withFleet(
          { backend: backend.url, replicas: 1, flags: { 'cache-disabled': 'true' } },
          async ([plain]) => {
            for (const [place, path] of paths(60_000_000_000n).entries())
              t.deepEqual(
                sorted(answers[place] ?? ''),
                sorted(plain === undefined ? '' : await ask(plain, path)),
              );
          },
        );
      });
      return calls;
    };
    const [alone, after] = [await asked(false), await asked(true)];
    t.true(after < alone, `${after} calls instead of ${alone}`);
  },
);

/** Series and listings have no order. */
function sorted(text: string): readonly string[] {
  return (JSON.parse(text) as readonly unknown[]).map((item) => JSON.stringify(item)).sort();
}

test.serial('a member may listen on a socket of the machine, with what it says uncompressed', async (t) => {
  const backend = await filled(t);
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-peers-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'peer.sock');
  const accepted = new Set<unknown>();
  await withFleet({ backend: backend.url, replicas: 1 }, async ([first]) => {
    if (first === undefined) return t.fail();
    // Forwards requests to the replica and responds like a worker would.
    const server = createServer((request, response) => {
      accepted.add(request.headers['accept-encoding']);
      void (async () => {
        const body: Buffer[] = [];
        for await (const chunk of request as AsyncIterable<Buffer>) body.push(chunk);
        const answer = await fetch(`${first.url}${request.url ?? ''}`, {
          method: request.method ?? 'GET',
          headers: { 'x-peer-token': String(request.headers['x-peer-token']), 'accept-encoding': 'identity' },
          ...(request.method === 'POST' ? { body: new Uint8Array(Buffer.concat(body)) } : {}),
        });
        response.writeHead(answer.status, { 'x-peer-making': answer.headers.get('x-peer-making') ?? '' });
        response.end(Buffer.from(await answer.arrayBuffer()));
      })();
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    t.teardown(() => void server.close());
    await withFleet({ backend: backend.url, replicas: 1, others: [`unix:${path}`] }, async ([second]) => {
      if (second === undefined) return t.fail();
      const answers: string[] = [];
      for (const one of paths(0n)) answers.push(await ask(first, one));
      const calls = callsOf(backend);
      for (const [place, one] of paths(0n).entries()) t.is(await ask(second, one), answers[place] ?? '');
      // The recent parts of listings are requested again.
      t.true(callsOf(backend) - calls <= 3, `${callsOf(backend) - calls} calls`);
      t.true(Number(await metric(second.url, 'peer_cache_hits_total')) > 0);
      t.is(await metric(second.url, 'peer_cache_errors_total'), '0');
      t.deepEqual([...accepted], [undefined]);
    });
    server.closeAllConnections();
  });
});

test.serial('members with certificates are called by HTTPS, and show theirs', async (t) => {
  const backend = await filled(t);
  const tls = (name: string): string => join(packageRoot(), 'test/data/tls', name);
  const flags = {
    'tls-cert-file': tls('server.pem'),
    'tls-key-file': tls('server.key'),
    'tls-client-ca-file': tls('ca.pem'),
    'metrics-listen': '127.0.0.1:0',
  };
  const ca = await readFile(tls('ca.pem'));
  const dispatcher = new Agent({
    connect: { ca, cert: await readFile(tls('client.pem')), key: await readFile(tls('client.key')) },
  });
  t.teardown(() => dispatcher.destroy());
  for (const required of ['true', 'false'])
    await withFleet(
      {
        backend: backend.url,
        replicas: 2,
        host: '127.0.0.1',
        flags: { ...flags, 'tls-require-client-cert': required },
      },
      async ([first, second]) => {
        if (first === undefined || second === undefined) return t.fail();
        const asked = async ({ url }: Replica, number: number): Promise<string> => {
          const answer = await request(url + pathOf('a', number), { dispatcher });
          return answer.body.text();
        };
        for (let number = 0; number < 6; number += 1) t.regex(await asked(first, number), /0 a 4/);
        await until(() => isCalm({ ...first, url: first.proxy.urls.metrics ?? '' }));
        const calls = callsOf(backend);
        for (let number = 0; number < 6; number += 1) t.regex(await asked(second, number), /0 a 4/);
        t.is(callsOf(backend), calls);
      },
    );
});
