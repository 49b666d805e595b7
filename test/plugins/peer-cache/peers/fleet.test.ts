import test from 'ava';
import { metric } from '../stored.js';
import { apps, ask, callsOf, filled, pathOf, withFleet, type Replica } from './fleet.js';
import { until } from '../../../setup/until.js';

async function sum(replicas: readonly Replica[], name: string): Promise<number> {
  const values = await Promise.all(replicas.map(({ url }) => metric(url, name)));
  return values.reduce((total, value) => total + Number(value ?? 0), 0);
}

test.serial('what one replica has made is found by the others, and the backend is asked once', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url }, async (replicas) => {
    const [first, ...others] = replicas;
    if (first === undefined) return t.fail();
    for (const app of apps) {
      const answer = await ask(first, pathOf(app));
      t.regex(answer, new RegExp(`0 ${app} 4`));
    }
    const calls = callsOf(backend);
    // Values that belong to another replica are written to it in the background.
    await until(async () => (await sum(replicas, 'peer_cache_write_through_waiting_bytes')) === 0);
    for (const other of others) {
      for (const app of apps) t.is(await ask(other, pathOf(app)), await ask(first, pathOf(app)));
    }
    t.is(callsOf(backend), calls);
    t.true((await sum(others, 'peer_cache_hits_total')) > 0);
    t.is(await sum(replicas, 'peer_cache_errors_total'), 0);
    t.is(await metric(first.url, 'peer_cache_peers'), '2');
    t.is(await metric(first.url, 'peer_cache_cluster_members'), '3');
  });
});

test.serial('a set of requests through all replicas in turn asks the backend for each once', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url }, async (replicas) => {
    const paths = Array.from({ length: 24 }, (_, number) => pathOf(apps[number % 4] ?? '', number));
    const round = async (shift: number): Promise<readonly string[]> => {
      const answers: string[] = [];
      for (const [place, path] of paths.entries()) {
        const replica = replicas[(place + shift) % replicas.length];
        answers.push(replica === undefined ? '' : await ask(replica, path));
      }
      return answers;
    };
    const before = callsOf(backend);
    const first = await round(0);
    const alone = callsOf(backend) - before;
    await until(async () => (await sum(replicas, 'peer_cache_write_through_waiting_bytes')) === 0);
    t.deepEqual(await round(1), first);
    t.deepEqual(await round(2), first);
    // Three separate replicas would send three times as many calls.
    t.true(
      callsOf(backend) - before - alone <= alone / 2,
      `${callsOf(backend) - before} calls, ${alone} for one`,
    );
  });
});
