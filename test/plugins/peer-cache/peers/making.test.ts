import test from 'ava';
import { FakeClock } from '../../../../core/testing/index.js';
import { Making } from '../../../../plugins/peer-cache/peers/making.js';
import { apps, ask, auth, callsOf, filled, pathOf, setFaults, withFleet, type Replica } from './fleet.js';
import { metric } from '../stored.js';

const hit = { packed: Buffer.from('v'), leftMs: 60_000, ageMs: 0 };

test.serial('what one makes is given to all who wait, and its failure too', async (t) => {
  const making = new Making(new FakeClock());
  t.true(making.begin('a'));
  t.false(making.begin('a'));
  const waiting = [making.wait('a', 60_000), making.wait('a', 60_000)];
  making.end('a', hit);
  t.deepEqual(await Promise.all(waiting), [hit, hit]);
  t.is(await making.wait('a', 60_000), undefined);
  t.true(making.begin('a'));
  const failed = making.wait('a', 60_000);
  making.end('a');
  t.is(await failed, undefined);
  making.begin('a:1');
  making.begin('b:1');
  const purged = making.wait('a:1', 60_000);
  making.clear('a:');
  t.is(await purged, undefined);
  t.true(making.has('b:1'));
});

test.serial(
  'who makes it for too long is forgotten, who waits too long or leaves gets nothing, and there is an end to how many',
  async (t) => {
    const clock = new FakeClock();
    const making = new Making(clock);
    making.begin('a');
    t.is(await making.wait('a', 1), undefined);
    const left = new AbortController();
    const waiting = making.wait('a', 60_000, left.signal);
    left.abort();
    t.is(await waiting, undefined);
    const many = Array.from({ length: 1_000 }, () => making.wait('a', 60_000));
    t.is(await making.wait('a', 60_000), undefined);
    clock.advance(30_000);
    t.false(making.has('a'));
    t.deepEqual(new Set(await Promise.all(many)), new Set([undefined]));
    for (let number = 0; number < 10_000; number += 1) t.true(making.begin(`${number}`));
    t.false(making.begin('one more'));
  },
);

test.serial('what all replicas are asked for at once is asked of the backend once', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url }, async (replicas) => {
    const alone = async (path: string): Promise<number> => {
      const calls = callsOf(backend);
      await ask(replicas[0] as Replica, path);
      return callsOf(backend) - calls;
    };
    const each = await alone(pathOf('a', 99));
    await setFaults(backend, [{ path: '/select/', latencyMs: 400 }]);
    let calls = callsOf(backend);
    for (const app of apps) {
      const answers = await Promise.all(replicas.map((replica) => ask(replica, pathOf(app))));
      t.is(new Set(answers).size, 1);
      t.regex(answers[0] ?? '', new RegExp(`0 ${app} 4`));
    }
    t.is(callsOf(backend) - calls, apps.length * each);
    const saved = await Promise.all(replicas.map(({ url }) => metric(url, 'peer_cache_joins_saved_total')));
    t.true(saved.reduce((sum, count) => sum + Number(count), 0) >= 2 * apps.length);
    // The replicas that wait get the failure, and then query the backend themselves.
    // Names may be learned at any time, so only the row query fails.
    const path = '/select/logsql/query';
    await setFaults(backend, [{ path, latencyMs: 100, status: 500, text: 'broken', times: 1 }]);
    const mixed = await Promise.all(replicas.map((replica) => ask(replica, pathOf('a', 50))));
    t.is(mixed.filter((answer) => answer.includes('0 a 4')).length, 2, mixed.join('\n'));
    await setFaults(backend, []);
    calls = callsOf(backend);
    for (const replica of replicas) t.regex(await ask(replica, pathOf('a', 50)), /0 a 4/);
  });
});

test.serial('one who was told to make a value and gives it up leaves it to the next', async (t) => {
  const backend = await filled(t);
  await withFleet({ backend: backend.url, replicas: 1 }, async ([only]) => {
    const get = async (more: string): Promise<string | null> => {
      const answer = await fetch(`${only?.url ?? ''}/_cache/get?key=0:k${more}`, { headers: auth });
      t.is(answer.status, 404);
      return answer.headers.get('x-peer-making');
    };
    t.is(await get(''), 'none');
    t.is(await get('&make=1'), 'make');
    t.is(await get('&make=1'), 'wait');
    t.is(await get(''), 'wait');
    const waiting = get('&wait_ms=19000');
    const url = `${only?.url ?? ''}/_cache/set?key=0:k&given_up=1`;
    t.is((await fetch(url, { method: 'POST', headers: auth })).status, 204);
    t.is(await waiting, 'none');
    t.is(await get('&make=1'), 'make');
  });
});
