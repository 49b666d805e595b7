import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { FakeClock, makeHost, makeExchange, makeTenant, optionsOf } from '../../../core/testing/index.js';
import type { LabelIndexOptions } from '../../../core/base/options.gen.js';
import labelIndex, { indexMetrics } from '../../../plugins/label-index/index.js';
import { withPods, type Flags } from './doors.js';

const pods = ['pod-1', 'pod-2', 'pod-3'];
const keep = (path: string): Flags => ({ 'label-values-index-persist-path': path });

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await setTimeout(10);
}

const isReady = async (url: string): Promise<boolean> =>
  (await (await fetch(`${url}/ready`)).text()) === 'ready';

test('a proxy that is started again answers the first browse from its snapshot, hottest first', async (t) => {
  const { run, asked, path } = await withPods(t, pods);
  const app = `?query=${encodeURIComponent('{pod="pod-3"}')}`;
  await run(async ({ values }) => {
    await values();
    await values(app);
  }, keep(path));
  const before = asked();
  await run(async ({ url, values, log }) => {
    await until(() => isReady(url));
    t.deepEqual(await values(), ['pod-3', 'pod-1', 'pod-2']);
    t.is(asked(), before);
    await log.find((record) => record.get('body') === 'label values index restored from its snapshot');
  }, keep(path));
  // Another field mode may change the names, so the snapshot does not apply.
  await run(
    async ({ url, values }) => {
      await until(() => isReady(url));
      await values();
      t.is(asked(), before + 1);
    },
    { ...keep(path), 'metadata-field-mode': 'hybrid' },
  );
});

test('a snapshot is written once in an interval, while the proxy runs', async (t) => {
  const { run, path } = await withPods(t, pods);
  const size = async (): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0;
  await run(async ({ values, metric }) => {
    await values();
    await until(async () => Number(await metric('label_index_entries')) > 0);
    t.is(await size(), 0);
  }, keep(path));
  t.true((await size()) > 0);
  await writeFile(path, '');
  await run(
    async ({ url, values, metric }) => {
      await until(() => isReady(url));
      await values();
      await until(async () => (await readFile(path, 'utf8').catch(() => '')).includes('pod-1'));
      await until(async () => (await metric('label_index_snapshot_bytes')) === String(await size()));
      const written = await metric('label_index_snapshots_total{outcome="written"}');
      await setTimeout(100);
      t.is(await metric('label_index_snapshots_total{outcome="written"}'), written, 'nothing has changed');
      t.is(await metric('label_index_snapshot_write_seconds_count'), written);
    },
    { ...keep(path), 'label-values-index-persist-interval': '20ms' },
  );
});

test('a flush takes the snapshot away at once', async (t) => {
  const { run, path } = await withPods(t, pods);
  await run(async ({ values }) => values(), keep(path));
  t.true((await readFile(path, 'utf8')).includes('pod-1'));
  await run(async ({ proxy }) => {
    await fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
    await t.throwsAsync(stat(path), { code: 'ENOENT' });
  }, keep(path));
});

test('a snapshot that cannot be written keeps the proxy from starting', async (t) => {
  const { run, path } = await withPods(t, []);
  await mkdir(path);
  await t.throwsAsync(
    run(() => Promise.resolve(), keep(path)),
    {
      message: /stage "label-index" failed to start: -label-values-index-persist-path: cannot write .*: /,
    },
  );
});

/** Each read of the clock takes a second and a half. */
class SlowClock extends FakeClock {
  override monotonicMs(): number {
    this.advance(1500);
    return super.monotonicMs();
  }
}

test('the time to write a snapshot of the label index is told in seconds', async (t) => {
  const { path } = await withPods(t, []);
  const host = makeHost({ metrics: indexMetrics, clock: new SlowClock() });
  const options = optionsOf('label-index', { enabled: true, persistPath: path });
  const stage = labelIndex.create(options as unknown as LabelIndexOptions, host);
  await stage.start?.(new AbortController().signal);
  await until(async () => (await stage.ready?.()) === undefined);
  const range = { startNs: 0n, endNs: 1n };
  const request = { op: 'label_values', name: 'pod', range, browse: {} } as const;
  const exchange = makeExchange({ request }).derive<'tenant'>({ slots: { tenant: makeTenant('shop') } });
  await stage.handle(exchange, () => Promise.resolve({ kind: 'names', values: pods, warnings: [] }));
  await stage.stop?.();
  t.regex((await host.exposeMetrics()).text, /^ref_proxy_label_index_snapshot_write_seconds_sum 1\.5$/m);
});

test('while the snapshot is restored the index is not ready, and browses go to the backend', async (t) => {
  const { path } = await withPods(t, []);
  const entry = { seen_count: 1, last_seen_unix_nano: 1 };
  const states = Object.fromEntries(Array.from({ length: 20_000 }, (_, number) => [`pod-${number}`, entry]));
  const file = { version: 1, saved_at_unix_nano: 1, states_by_key: { 'shop|pod': states } };
  await writeFile(path, JSON.stringify(file));
  const host = makeHost({ metrics: indexMetrics });
  const options = optionsOf('label-index', {
    enabled: true,
    persistPath: path,
  }) as unknown as LabelIndexOptions;
  const stage = labelIndex.create(options, host);
  t.teardown(() => stage.stop?.());
  await stage.start?.(new AbortController().signal);
  t.is(await stage.ready?.(), 'label values index is loading');
  const range = { startNs: 0n, endNs: 1n };
  const ask = async (): Promise<unknown> => {
    const request = { op: 'label_values', name: 'pod', range, browse: { limit: 1 } } as const;
    const exchange = makeExchange({ request }).derive<'tenant'>({ slots: { tenant: makeTenant('shop') } });
    const answer = await stage.handle(exchange, () =>
      Promise.resolve({ kind: 'names', values: ['of the backend'], warnings: [] }),
    );
    return answer.kind === 'names' ? answer.values : answer;
  };
  t.deepEqual(await ask(), ['of the backend']);
  await until(async () => (await stage.ready?.()) === undefined);
  t.deepEqual(await ask(), ['pod-0']);
});
