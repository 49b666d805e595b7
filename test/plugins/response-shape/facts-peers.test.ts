import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { metric } from '../kept-patterns/fixtures.js';
import { until } from '../../setup/until.js';
import { withFleet, type Replica } from '../peer-cache/peers/fleet.js';
import { scriptedPeer } from '../peer-cache/peers/scripted-peer.js';
import { FactsHouse, rowAt, type Row } from './facts.js';

const name = '__facts_snapshot:v2';

/** A query without a cached answer, over rows that were read before. */
const other = {
  query: 'sum by (detected_level) (count_over_time({app=~"a|b"} != "not this line either" [5m]))',
};

/** Runs one replica next to other members, with its own facts file. */
async function withOne(
  house: FactsHouse,
  file: string,
  others: readonly string[],
  use: (replica: Replica) => Promise<void>,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const flags = { 'facts-persist-path': join(house.folder, file), ...more };
  await withFleet({ backend: house.relay.url, replicas: 1, others, flags }, async ([only]) => {
    if (only === undefined) throw new Error('there is no replica');
    await use(only);
  });
}

const fromPeers = (url: string): Promise<number> => metric(url, 'learned_restored_total{source="peer"}');
const entries = (url: string): Promise<number> => metric(url, 'learned_entries{memory="stretches"}');

test.serial(
  'a replica without facts begins with those of a peer, and sees what has changed since',
  async (t) => {
    const house = await FactsHouse.open(t);
    await withOne(house, 'first.json', [], async (first) => {
      const { values } = await house.ask(first.url, other);
      const known = await entries(first.url);
      await withOne(house, 'second.json', [first.address], async (second) => {
        await until(async () => (await fromPeers(second.url)) > 0);
        t.is(await entries(second.url), known);
        const found = await house.ask(second.url, { query: other.query.replace('either', 'or that') });
        t.deepEqual(found.values, values);
        t.is(found.looks, 0);
      });
      // The replica has its own facts now, with the checksums of the first one.
      const late: readonly Row[] = [rowAt(110), [3_005, 'w1x w2x INFO: ERROR w3x']];
      await house.push(late);
      await withOne(house, 'second.json', [first.address], async (second) => {
        await until(async () => (await metric(second.url, 'learned_restored_total{source="disk"}')) > 0);
        t.is(await fromPeers(second.url), 0);
      });
      await withOne(house, 'third.json', [first.address], async (third) => {
        await until(async () => (await fromPeers(third.url)) > 0);
        const found = await house.ask(third.url);
        t.deepEqual(found.values, await house.fresh());
        t.true(found.looks > 0);
      });
    });
    const salts = await Promise.all(
      ['first.json', 'second.json', 'third.json'].map(async (file) => {
        const { salt } = JSON.parse(await readFile(join(house.folder, file), 'utf8')) as {
          readonly salt: string;
        };
        return salt;
      }),
    );
    t.is(new Set(salts).size, 1);
  },
);

test.serial('flushed facts are not given to peers, and a flush ends the asking', async (t) => {
  const house = await FactsHouse.open(t);
  await withOne(house, 'first.json', [], async (first) => {
    await house.ask(first.url, other);
    await fetch(`${first.proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
    const silent = await scriptedPeer(t, { entries: [], atOnce: 99 });
    // The silent peer may also be the one to ask for an answer.
    const impatient = { 'peer-timeout': '1s', 'peer-patience': '1s' };
    const check = async (second: Replica): Promise<void> => {
      await until(() => silent.got.length > 0);
      t.deepEqual(silent.got, [name]);
      // Nothing waits for the facts of peers.
      t.is((await fetch(`${second.url}/ready`)).status, 200);
      t.deepEqual((await house.ask(second.url)).values, await house.fresh());
      await fetch(`${second.proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
      t.is(await fromPeers(second.url), 0);
    };
    await withOne(house, 'second.json', [first.address, silent.address], check, impatient);
  });
});

test.serial('an invalid snapshot of facts from a peer is dropped, and rows are compared', async (t) => {
  const house = await FactsHouse.open(t);
  for (const size_bytes of [10, 9 * 1024 * 1024]) {
    const entry = { key: name, tenant: '', score: 1, size_bytes, remaining_ttl_ms: 60_000 };
    const peer = await scriptedPeer(t, { entries: [entry] });
    await withOne(house, `${size_bytes}.json`, [peer.address], async ({ url, log }) => {
      await until(() =>
        log.records.some((record) => record.get('body') === 'cannot use the snapshot of a peer'),
      );
      t.is(await fromPeers(url), 0);
      const { values, looks } = await house.ask(url);
      t.deepEqual(values, await house.fresh());
      t.true(looks > 0);
    });
  }
});
