import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { pushLoki } from '../../embedded-backend/harness.js';
import { isReady, logsFor, metric, type Logs } from '../../kept-patterns/fixtures.js';
import { until } from '../../../setup/until.js';
import { filled, oldNs, withFleet, type FleetSettings, type Replica } from './fleet.js';
import { scriptedPeer } from './scripted-peer.js';

type Flags = Readonly<Record<string, string>>;

/** Runs one replica that asks other members, until it is ready. */
async function withOne(
  settings: Partial<FleetSettings> & Pick<FleetSettings, 'backend'>,
  use: (replica: Replica) => Promise<void>,
): Promise<void> {
  const both = { early: '  - use: kept-patterns\n  - use: label-index', endpoints: '  - use: patterns' };
  await withFleet({ replicas: 1, ...both, ...settings }, async ([only]) => {
    if (only === undefined) throw new Error('there is no replica');
    await use(only);
  });
}

test.serial(
  'a replica without patterns begins with those of another one, an old file gets what is newer, a new file stays',
  async (t) => {
    const { backend, path, patterns }: Logs = await logsFor(t);
    const restored = async ({ url }: Replica): Promise<readonly number[]> => [
      await metric(url, 'patterns_restored_disk_entries_total'),
      await metric(url, 'patterns_restored_peer_entries_total'),
      await metric(url, 'patterns_restored_from_peers_total'),
      await metric(url, 'patterns_deduplicated_total{source="peer"}'),
    ];
    await withOne({ backend: backend.url }, async (first) => {
      const found = await patterns(first.url);
      t.true(found.length > 0);
      const start = async (flags: Flags, wanted: readonly number[], name: string): Promise<void> =>
        withOne({ backend: backend.url, others: [first.address], flags }, async (second) => {
          await until(() => isReady(second.url));
          t.deepEqual(await restored(second), wanted, name);
          if (flags['patterns-persist-path'] === undefined) return;
          t.deepEqual(await patterns(second.url), found);
          t.is(await metric(second.url, 'patterns_snapshot_hits_total'), 1);
          if (wanted[1] !== 0) t.true((await metric(second.url, 'patterns_restored_peer_bytes_total')) > 0);
        });
      const kept = { 'patterns-persist-path': path };
      await start({}, [0, 0, 0, 0], 'without a file nothing outlives the process');
      await start(kept, [0, 1, 1, 0], 'no file yet');
      await patterns(first.url, { query: '{app="b"}' });
      await start(kept, [1, 0, 0, 0], 'a new file');
      const old = { ...kept, 'patterns-startup-stale-threshold': '0s' };
      await start(old, [1, 1, 2, 1], 'an old file');
      await start({ ...old, 'patterns-startup-peer-warm-timeout': '0s' }, [2, 0, 0, 0], 'no time to ask');
    });
  },
);

async function pathFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-warm-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'kept.json');
}

test.serial(
  'a replica without an index of label values begins with that of another one, an old one gets what is missing',
  async (t) => {
    const backend = await filled(t);
    const path = await pathFor(t);
    const indexed = { 'label-values-indexed-cache': 'true' };
    const browse = async ({ url }: Replica, label: string): Promise<unknown> =>
      ((await (await fetch(`${url}/loki/api/v1/label/${label}/values`)).json()) as { data?: unknown }).data;
    await withOne({ backend: backend.url, flags: indexed }, async (first) => {
      t.deepEqual(await browse(first, 'app'), ['a', 'b', 'c', 'd']);
      const start = async (flags: Flags, labels: number): Promise<void> =>
        withOne(
          { backend: backend.url, others: [first.address], flags: { ...indexed, ...flags } },
          async (second) => {
            await until(() => isReady(second.url));
            t.is(await metric(second.url, 'label_index_labels'), labels);
            if (labels === 0) return;
            t.deepEqual(await browse(second, 'app'), ['a', 'b', 'c', 'd']);
            t.is(await metric(second.url, 'label_index_hits_total'), 1);
          },
        );
      const kept = { 'label-values-index-persist-path': path };
      await start({}, 0);
      await start(kept, 1);
      await browse(first, 'service_name');
      await start(kept, 1);
      await start({ ...kept, 'label-values-index-startup-stale-threshold': '0s' }, 2);
    });
  },
);

test.serial(
  'values of a label that only the old file knows, and those that only a peer knows, are known to a replica that starts',
  async (t) => {
    const backend = await filled(t);
    for (const app of ['e', 'f'])
      await pushLoki(backend.url, { app }, [[oldNs, 'line']], '?disable_message_parsing=1');
    const kept = { 'label-values-index-persist-path': await pathFor(t) };
    const indexed = { 'label-values-indexed-cache': 'true' };
    const times = { start: String(oldNs - 1_000_000_000n), end: String(oldNs + 60_000_000_000n) };
    const values = async ({ url }: Replica, params: Flags = {}): Promise<readonly string[]> => {
      const query = new URLSearchParams({ ...times, ...params }).toString();
      const answer = await fetch(`${url}/loki/api/v1/label/app/values?${query}`);
      return ((await answer.json()) as { readonly data: readonly string[] }).data;
    };
    const limited = { 'label-values-index-max-entries': '3' };
    await withOne({ backend: backend.url, flags: { ...indexed, ...limited } }, async (first) => {
      await values(first);
      // Of values seen in the same millisecond, the first by name would stay.
      await sleep(5);
      await values(first, { query: '{app="f"}' });
      await withOne({ backend: backend.url, flags: { ...indexed, ...limited, ...kept } }, async (second) => {
        await values(second);
        await sleep(5);
        await values(second, { query: '{app="e"}' });
        t.false((await values(second)).includes('f'));
      });
      t.false((await values(first)).includes('e'));
      const flags = { ...indexed, ...kept, 'label-values-index-startup-stale-threshold': '0s' };
      await withOne({ backend: backend.url, others: [first.address], flags }, async (second) => {
        await until(() => isReady(second.url));
        const known = await values(second);
        t.true(known.includes('e') && known.includes('f'), known.join());
        t.is(await metric(second.url, 'label_index_hits_total'), 1);
      });
    });
  },
);

const kinds = [
  ['patterns', 'patterns-persist-path', 'patterns', 'patterns cache is loading'],
  [
    'label_values_index',
    'label-values-index-persist-path',
    'label-values-index',
    'label values index is loading',
  ],
] as const;

for (const [kind, pathFlag, prefix, text] of kinds) {
  const flagsFor = async (t: ExecutionContext, timeout: string): Promise<Flags> => ({
    'label-values-indexed-cache': 'true',
    [pathFlag]: await pathFor(t),
    [`${prefix}-startup-peer-warm-timeout`]: timeout,
  });

  test.serial(
    `a replica is not ready while it asks for ${kind}, and waits no longer than it may`,
    async (t) => {
      const backend = await filled(t);
      const silent = await scriptedPeer(t, { entries: [], atOnce: 99 });
      const run = { backend: backend.url, others: [silent.address] };
      await withOne({ ...run, flags: await flagsFor(t, '1000h') }, async ({ url, proxy }) => {
        await until(() => silent.got.length > 0);
        t.deepEqual(silent.got, [`__${kind}_snapshot:v1`]);
        const ready = await fetch(`${url}/ready`);
        t.deepEqual([ready.status, await ready.text()], [503, text]);
        // The snapshot in flight may predate the purge.
        await fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
        await until(() => isReady(url));
      });
      await withOne({ ...run, flags: await flagsFor(t, '10ms') }, async ({ url }) => {
        await until(() => isReady(url));
        t.pass();
      });
    },
  );

  test.serial(
    `an invalid snapshot (${kind}) from a peer is dropped, and the replica begins without`,
    async (t) => {
      const backend = await filled(t);
      for (const size_bytes of [10, 9 * 1024 * 1024]) {
        const key = `__${kind}_snapshot:v1`;
        const entries = [{ key, tenant: '', score: 1, size_bytes, remaining_ttl_ms: 60_000 }];
        const peer = await scriptedPeer(t, { entries });
        const flags = await flagsFor(t, '1000h');
        await withOne({ backend: backend.url, others: [peer.address], flags }, async ({ url }) => {
          await until(() => isReady(url));
          t.is(await metric(url, 'label_index_labels'), 0);
          t.is(await metric(url, 'patterns_restored_peer_entries_total'), 0);
          t.is(peer.got.length, 1);
        });
      }
    },
  );
}
