import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import {
  chooseAhead,
  byWant,
  type AheadBudget,
  ReadAhead,
} from '../../../../plugins/peer-cache/peers/read-ahead.js';
import type { HotEntry } from '../../../../plugins/peer-cache/peers/hot-index.js';
import { makeHost, optionsOf } from '../../../../core/testing/index.js';
import type { PeerCacheOptions } from '../../../../core/base/options.gen.js';
import type { TierFront } from '../../../../core/cache/answer-tier.js';
import { peerMetrics } from '../../../../plugins/peer-cache/peers/metrics.js';
import { metric } from '../stored.js';
import { ask, auth, callsOf, filled, pathOf, withFleet, type Replica } from './fleet.js';
import { until } from '../../../setup/until.js';
import { scriptedPeer, type ScriptedPeer, type ScriptedPeerSettings } from './scripted-peer.js';

const numbers = Array.from({ length: 16 }, (_, number) => number);
const ahead = {
  'peer-hot-read-ahead-enabled': 'true',
  'peer-hot-read-ahead-interval': '20ms',
  'peer-hot-read-ahead-jitter': '0s',
};

const count = async (replica: Replica, name: string): Promise<number> =>
  Number((await metric(replica.url, name)) ?? 0);
const prefetches = 'peer_cache_read_ahead_prefetches_total';

async function hotOf({ url }: Replica): Promise<readonly HotEntry[]> {
  const answer = await fetch(`${url}/_cache/hot`, { headers: auth });
  return ((await answer.json()) as { readonly entries: readonly HotEntry[] }).entries;
}

test.serial('what a replica is asked for most is there on another one before somebody asks', async (t) => {
  const backend = await filled(t);
  for (const isEnabled of [true, false])
    await withFleet(
      {
        backend: backend.url,
        replicas: 2,
        flagsOf: (place) =>
          place === 1 ? { ...ahead, 'peer-hot-read-ahead-enabled': String(isEnabled) } : {},
      },
      async ([first, second]) => {
        if (first === undefined || second === undefined) return t.fail();
        const answers: string[] = [];
        for (const number of [...numbers, ...numbers]) answers.push(await ask(first, pathOf('a', number)));
        await until(async () => (await count(first, 'peer_cache_write_through_waiting_bytes')) === 0);
        const hot = await hotOf(first);
        t.true(hot.length > 0 && hot.length < numbers.length);
        if (isEnabled) {
          await until(async () => (await count(second, prefetches)) >= hot.length);
          const bytes = hot.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
          t.is(await count(second, 'peer_cache_read_ahead_prefetch_bytes_total'), bytes);
          const scores = (some: readonly HotEntry[]): unknown => some.map(({ key, score }) => [key, score]);
          t.deepEqual(scores(await hotOf(first)), scores(hot), 'to read ahead is no use');
        }
        const calls = callsOf(backend);
        for (const number of numbers) t.is(await ask(second, pathOf('a', number)), answers[number] ?? '');
        t.is(callsOf(backend), calls);
        t.is(await count(second, 'peer_cache_hits_total'), isEnabled ? 0 : hot.length);
        if (!isEnabled) t.is(await count(second, 'peer_cache_hot_index_requests_total'), 0);
      },
    );
});

/** Returns a function that builds the cache keys of the replicas in these tests. */
async function keyMaker(
  t: ExecutionContext,
  backend: string,
): Promise<(tenant: string, name: string) => string> {
  let key = '';
  await withFleet({ backend, replicas: 1 }, async ([only]) => {
    if (only === undefined) return t.fail();
    await ask(only, pathOf('a'));
    await ask(only, pathOf('a'));
    key = (await hotOf(only))[0]?.key ?? '';
  });
  const [, format, setup] = key.split(':');
  return (tenant, name) => [tenant, format, setup, tenant, name].join(':');
}

/** The keys that are fetched in one round. */
async function oneRound(
  t: ExecutionContext,
  backend: string,
  settings: ScriptedPeerSettings,
  flags: Readonly<Record<string, string>> = {},
  look: (replica: Replica, peer: ScriptedPeer) => Promise<void> = () => Promise.resolve(),
): Promise<readonly string[]> {
  const peer = await scriptedPeer(t, settings);
  await withFleet(
    { backend, replicas: 1, others: [peer.address], flags: { ...ahead, ...flags } },
    async ([only]) => {
      await until(() => peer.hotQueries.length >= 2);
      if (only !== undefined) await look(only, peer);
    },
  );
  return peer.got.map((key) => key.slice(0, 1) + (key.split(':')[4] ?? ''));
}

test.serial('each bound of a round of reading ahead holds, and says what it left out', async (t) => {
  const backend = await filled(t);
  const key = await keyMaker(t, backend.url);
  const of = (tenant: string, name: string, score: number, size_bytes = 100, leftMs = 600_000): HotEntry => ({
    key: key(tenant, name),
    tenant,
    score,
    size_bytes,
    remaining_ttl_ms: leftMs,
  });
  const entries = [of('1', 'a', 9), of('1', 'b', 8, 300), of('1', 'c', 7, 100, 60_000), of('2', 'd', 6)];
  const one = { 'peer-hot-read-ahead-max-concurrency': '1' };
  const round = (
    flags: Readonly<Record<string, string>>,
    look?: (replica: Replica, peer: ScriptedPeer) => Promise<void>,
  ): Promise<readonly string[]> => oneRound(t, backend.url, { entries }, { ...one, ...flags }, look);
  const told =
    (name: string, wanted: number) =>
    async (replica: Replica): Promise<void> => {
      t.is(await count(replica, `peer_cache_read_ahead_${name}_total`), wanted, name);
    };
  t.deepEqual(await round({}, told('prefetches', 4)), ['1a', '1b', '1c', '2d']);
  t.deepEqual(await round({ 'peer-hot-read-ahead-max-keys-per-interval': '2' }, told('budget_drops', 2)), [
    '1a',
    '2d',
  ]);
  t.deepEqual(await round({ 'peer-hot-read-ahead-max-bytes-per-interval': '400' }, told('budget_drops', 1)), [
    '1a',
    '1c',
    '2d',
  ]);
  t.deepEqual(await round({ 'peer-hot-read-ahead-max-object-bytes': '299' }), ['1a', '1c', '2d']);
  t.deepEqual(await round({ 'peer-hot-read-ahead-min-ttl': '2m' }), ['1a', '1b', '2d']);
  const four = { 'peer-hot-read-ahead-max-keys-per-interval': '4' };
  t.deepEqual(
    await round({ ...four, 'peer-hot-read-ahead-tenant-fair-share': '50' }, told('tenant_skips', 1)),
    ['1a', '1b', '2d', '1c'],
  );
  t.deepEqual(
    await round({ ...four, 'peer-hot-read-ahead-tenant-fair-share': '75' }, told('tenant_skips', 0)),
    ['1a', '1b', '1c', '2d'],
  );
  await round({ 'peer-hot-read-ahead-top-n': '7' }, (_, { hotQueries }) => {
    t.is(hotQueries[0], '?limit=7');
    return Promise.resolve();
  });
});

test.serial('so many keys are read ahead at once as the option says', async (t) => {
  const backend = await filled(t);
  const key = await keyMaker(t, backend.url);
  const entries = numbers.slice(0, 6).map((number): HotEntry => ({
    key: key('1', `k${number}`),
    tenant: '1',
    score: 1,
    size_bytes: 10,
    remaining_ttl_ms: 600_000,
  }));
  for (const atOnce of [1, 3])
    await oneRound(
      t,
      backend.url,
      { entries, atOnce },
      { 'peer-hot-read-ahead-max-concurrency': String(atOnce) },
      (_, peer) => {
        t.is(peer.mostAtOnce(), atOnce);
        return Promise.resolve();
      },
    );
});

test.serial(
  'keys of other options are not read ahead, and what is larger than told or not believed is not kept',
  async (t) => {
    const backend = await filled(t);
    const key = await keyMaker(t, backend.url);
    const of = (text: string): HotEntry => ({
      key: text,
      tenant: '1',
      score: 1,
      size_bytes: 100,
      remaining_ttl_ms: 600_000,
    });
    const entries = [of(key('1', 'a')), of('1:x:0123456789abcdef:1:b'), of('1:c')];
    const kept =
      (wanted: number) =>
      async (replica: Replica): Promise<void> => {
        t.is(await count(replica, prefetches), wanted);
      };
    t.deepEqual(await oneRound(t, backend.url, { entries }, {}, kept(1)), ['1a']);
    await oneRound(t, backend.url, { entries, bytesOf: () => 101 }, {}, async (replica) => {
      t.is(await count(replica, prefetches), 0);
      t.is(await count(replica, 'peer_cache_read_ahead_budget_drops_total'), 1);
    });
    await oneRound(t, backend.url, { entries, token: 'another one' }, {}, kept(0));
  },
);

test.serial(
  'an index of keys that cannot be used is counted, and its replica is left alone for a time',
  async (t) => {
    const backend = await filled(t);
    const answers = [
      'no JSON',
      '[]',
      '{"entries":[1]}',
      '{"entries":[{"key":"k","tenant":"1","score":-1,"size_bytes":1,"remaining_ttl_ms":1}]}',
      `{"entries":[],"more":"${'x'.repeat(4 * 1024 * 1024)}"}`,
    ];
    for (const answer of answers) {
      const peer = await scriptedPeer(t, { entries: [], hot: (response) => void response.end(answer) });
      const backoff = (time: string) => ({ 'peer-hot-read-ahead-error-backoff': time });
      await withFleet(
        {
          backend: backend.url,
          replicas: 2,
          others: [peer.address],
          flags: ahead,
          flagsOf: (place) => backoff(place === 0 ? '1ms' : '1000h'),
        },
        async ([often, once]) => {
          if (often === undefined || once === undefined) return t.fail();
          const errors = 'peer_cache_hot_index_errors_total';
          await until(async () => (await count(often, errors)) >= 3);
          await until(async () => (await count(once, 'peer_cache_hot_index_requests_total')) >= 5);
          t.is(await count(once, errors), 1, answer.slice(0, 80));
          t.deepEqual(peer.got, []);
        },
      );
    }
  },
);

test.serial('rounds of reading ahead come as often as interval and jitter say', async (t) => {
  const backend = await filled(t);
  const rare = [{ 'peer-hot-read-ahead-interval': '1000h' }, { 'peer-hot-read-ahead-jitter': '1000000h' }];
  await withFleet(
    { backend: backend.url, replicas: 3, flags: ahead, flagsOf: (place) => rare[place - 1] ?? {} },
    async ([often, ...others]) => {
      if (often === undefined) return t.fail();
      const asked = 'peer_cache_hot_index_requests_total';
      await until(async () => (await count(often, asked)) >= 6);
      for (const replica of others) t.is(await count(replica, asked), 0);
    },
  );
});

test.serial(
  'a process that has more to do reads nothing ahead, and ends a round that it has begun',
  async (t) => {
    const host = makeHost({ metrics: peerMetrics });
    const asked: string[] = [];
    let free = 0;
    const peer = {
      isUp: true,
      hot: () => {
        asked.push('hot');
        return Promise.resolve(
          ['1:a', '1:b'].map((key) => ({
            key,
            tenant: '1',
            score: 1,
            size_bytes: 1,
            remaining_ttl_ms: 60_000,
          })),
        );
      },
      get: (key: string) => {
        asked.push(key);
        return Promise.resolve({ state: 'none' as const });
      },
    };
    const options = optionsOf('peer-cache', {
      peerHotReadAheadMaxConcurrency: 1,
    }) as unknown as PeerCacheOptions;
    const front: TierFront = {
      largest: 1000,
      isOwn: () => true,
      find: () => Promise.resolve(undefined),
      peek: () => undefined,
      put: () => true,
    };
    const settings = { options, house: host, members: { peers: [peer] }, isFree: () => (free -= 1) >= 0 };
    const reading = new ReadAhead(settings);
    await reading.round(front);
    t.deepEqual(asked, []);
    free = 3;
    await reading.round(front);
    t.deepEqual(asked, ['hot', '1:a']);
  },
);

const entry = fc
  .record({
    tenant: fc.constantFrom('1', '2', '3'),
    name: fc.nat(40),
    score: fc.nat(5),
    size_bytes: fc.nat(100),
    remaining_ttl_ms: fc.nat(100),
  })
  .map(({ tenant, name, ...rest }): HotEntry => ({ tenant, key: `${tenant}:${name}`, ...rest }));
const entries = fc.array(entry, { maxLength: 40 }).map((some) => some.sort(byWant));
const budgets: fc.Arbitrary<AheadBudget> = fc.record({
  maxKeys: fc.integer({ min: 1, max: 20 }),
  maxBytes: fc.integer({ min: 1, max: 800 }),
  maxObjectBytes: fc.integer({ min: 1, max: 100 }),
  minTtlMs: fc.nat(100),
  tenantShare: fc.integer({ min: 1, max: 100 }),
});

const bytesOf = (some: readonly HotEntry[]): number =>
  some.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
const keysOf = (some: readonly HotEntry[]): readonly string[] => some.map(({ key }) => key);

test.serial(
  'what is chosen to be read ahead stays within every budget, and nothing that has room is left out',
  (t) => {
    fc.assert(
      fc.property(entries, budgets, (all, budget) => {
        const { chosen, dropped } = chooseAhead(all, budget);
        const fitting = new Map(
          all
            .filter(
              ({ size_bytes, remaining_ttl_ms }) =>
                size_bytes > 0 && size_bytes <= budget.maxObjectBytes && remaining_ttl_ms >= budget.minTtlMs,
            )
            .reverse()
            .map((one) => [one.key, one]),
        );
        const taken = new Set(keysOf(chosen));
        const roomLeft = chosen.length < budget.maxKeys ? budget.maxBytes - bytesOf(chosen) : 0;
        return (
          chosen.length <= budget.maxKeys &&
          bytesOf(chosen) <= budget.maxBytes &&
          taken.size === chosen.length &&
          chosen.every((one) => fitting.get(one.key) === one) &&
          dropped === fitting.size - chosen.length &&
          [...fitting.values()].every(({ key, size_bytes }) => taken.has(key) || size_bytes > roomLeft)
        );
      }),
      { endOnFailure: true },
    );
    t.pass();
  },
);

test.serial('a tenant gets no more than its share before the others had theirs', (t) => {
  fc.assert(
    fc.property(entries, budgets, (all, budget) => {
      const { chosen } = chooseAhead(all, budget);
      const most = Math.max(1, Math.floor((budget.maxKeys * budget.tenantShare) / 100));
      const mostBytes = Math.floor((budget.maxBytes * budget.tenantShare) / 100);
      const had = new Map<string, { keys: number; bytes: number }>();
      const isOver = chosen.map(({ tenant, size_bytes }) => {
        const { keys, bytes } = had.get(tenant) ?? { keys: 0, bytes: 0 };
        if (keys >= most || bytes + size_bytes > mostBytes) return true;
        had.set(tenant, { keys: keys + 1, bytes: bytes + size_bytes });
        return false;
      });
      // Keys over a share come last.
      return !isOver.includes(true) || !isOver.slice(isOver.indexOf(true)).includes(false);
    }),
    { endOnFailure: true },
  );
  const of = (tenant: string, score: number): HotEntry => ({
    tenant,
    key: `${tenant}:${score}`,
    score,
    size_bytes: 10,
    remaining_ttl_ms: 60_000,
  });
  const all = [of('1', 9), of('1', 8), of('1', 7), of('2', 6), of('1', 5)];
  const budget = { maxKeys: 4, maxBytes: 1000, maxObjectBytes: 100, minTtlMs: 0 };
  const half = chooseAhead(all, { ...budget, tenantShare: 50 });
  t.deepEqual(keysOf(half.chosen), ['1:9', '1:8', '2:6', '1:7']);
  t.deepEqual([half.dropped, half.passedOver], [1, 2]);
  const whole = chooseAhead(all, { ...budget, tenantShare: 100 });
  t.deepEqual(keysOf(whole.chosen), ['1:9', '1:8', '1:7', '2:6']);
  const fewBytes = chooseAhead(all, { ...budget, maxKeys: 9, maxBytes: 40, tenantShare: 25 });
  t.deepEqual(keysOf(fewBytes.chosen), ['1:9', '2:6', '1:8', '1:7']);
});

test.serial('answers with the same score are wanted in the order of the time they have left', (t) => {
  const of = (key: string, score: number, remaining_ttl_ms: number): HotEntry => ({
    tenant: '1',
    key,
    score,
    size_bytes: 1,
    remaining_ttl_ms,
  });
  const all = [of('1:a', 1, 9), of('1:b', 2, 1), of('1:c', 2, 5), of('1:d', 2, 5)];
  t.deepEqual(keysOf([...all].sort(byWant)), ['1:c', '1:d', '1:b', '1:a']);
});
