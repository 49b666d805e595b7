import test from 'ava';
import fc from 'fast-check';
import { deepRuns } from '../../../setup/runs.js';
import { ask, filled, pathOf, withFleet, apps, tenants } from './fleet.js';
import { until } from '../../../setup/until.js';
import { metric } from '../stored.js';

/** Number of requests; REQUESTS sets a higher one for manual runs. */
const requests = Number(process.env['REQUESTS'] ?? deepRuns(300, 1_000));

test.serial(
  'requests of several tenants and credentials through all replicas never see what belongs to another',
  async (t) => {
    const backend = await filled(t);
    const flags = { 'forward-headers': 'x-who', 'require-tenant-header': 'true' };
    await withFleet({ backend: backend.url, flags }, async (replicas) => {
      const one = fc.record({
        replica: fc.nat(2),
        tenant: fc.oneof(fc.constantFrom(...tenants), fc.constant('1|2')),
        app: fc.constantFrom(...apps),
        who: fc.constantFrom('ann', 'bob'),
        number: fc.nat(3),
      });
      const [all] = fc.sample(fc.array(one, { minLength: requests, maxLength: requests, size: 'max' }), 1);
      let leaks = 0;
      const waiting = [...(all ?? [])];
      const worker = async (): Promise<void> => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          const { replica, tenant, app, who, number } = next;
          const target = replicas[replica];
          if (target === undefined) return t.fail();
          const answer = await ask(target, pathOf(app, number), { 'x-scope-orgid': tenant, 'x-who': who });
          const lines = [...answer.matchAll(/"(\d) (\w) \d"/g)].map(
            ([, of, from]) => `${of ?? ''} ${from ?? ''}`,
          );
          const expected = tenant.split('|').flatMap((id) => Array.from({ length: 5 }, () => `${id} ${app}`));
          if (lines.sort().join() !== expected.sort().join()) leaks += 1;
        }
      };
      await Promise.all(Array.from({ length: 6 }, worker));
      t.is(leaks, 0);
      const hits = await Promise.all(replicas.map(({ url }) => metric(url, 'peer_cache_hits_total')));
      t.true(
        hits.every((count) => Number(count) > 0),
        hits.join(),
      );
    });
  },
);

test.serial('what one has with its credentials is not found by another', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url, flags: { 'forward-headers': 'x-who' } }, async (replicas) => {
    const callsFor = async (who: string, place: number): Promise<number> => {
      const calls = backend.stats().calls['/select/logsql/query'] ?? 0;
      const replica = replicas[place];
      if (replica !== undefined)
        for (let number = 0; number < 6; number += 1)
          await ask(replica, pathOf('a', number), { 'x-who': who });
      for (const { url } of replicas)
        await until(async () => (await metric(url, 'peer_cache_write_through_waiting_bytes')) === '0');
      return (backend.stats().calls['/select/logsql/query'] ?? 0) - calls;
    };
    const first = await callsFor('ann', 0);
    t.true(first >= 6);
    t.is(await callsFor('ann', 1), 0);
    t.is(await callsFor('bob', 2), first);
  });
});
