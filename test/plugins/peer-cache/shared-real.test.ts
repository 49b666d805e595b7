/** Tests with a real Valkey or Redis: `VALKEY_SERVER`, or a `valkey-server` or `redis-server` in the PATH. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { withProxy, type ProxyUnderTest } from '../../../core/testing/index.js';
import { RealStore, storeProgram } from './real-store.js';
import { freePort, main } from '../../core/program/child.js';
import { count, pathOf, startTelltale } from './sharing.js';
import { until } from '../../setup/until.js';
import { pipeline } from './stored.js';

const withStore = storeProgram === undefined ? test.skip : test;
const usual = { 'server.register-instrumentation': 'true', 'cache-max': '1' };
const tls = fileURLToPath(new URL('../../../../test/data/tls/', import.meta.url));

async function ask({ url }: Pick<ProxyUnderTest, 'url'>, app: string): Promise<boolean> {
  const answer = await fetch(url + pathOf(app));
  return (await answer.text()).includes(`app=${app}`) && answer.status === 200;
}

withStore(
  'a real store serves two proxies, is killed and started again in the middle of a load',
  async (t) => {
    const store = await RealStore.start(t);
    const backend = await startTelltale(t);
    const flags = { ...usual, 'shared-cache-url': store.url };
    await withProxy(
      pipeline(backend.url),
      (one) =>
        withProxy(
          pipeline(backend.url),
          async (other) => {
            for (const app of ['x1', 'x2', 'x3']) t.true(await ask(one, app));
            await until(async () => (await count(one.url, 'shared_cache_sets_total')) === 3);
            for (const app of ['x1', 'x2', 'x3']) t.true(await ask(other, app));
            await until(
              async () =>
                (await ask(other, 'x1')) && (await count(other.url, 'shared_cache_hits_total')) >= 3,
            );
            let failed = 0;
            for (let number = 0; number < 300; number += 1) {
              const answers = await Promise.all([one, other].map((proxy) => ask(proxy, `x${number % 7}`)));
              failed += answers.filter((isRight) => !isRight).length;
              if (number === 50) await store.kill();
              if (number === 120) await store.start();
              if (number === 200) store.signal('SIGSTOP');
              if (number === 250) store.signal('SIGCONT');
            }
            t.is(failed, 0);
            for (const { url } of [one, other])
              await until(async () => (await count(url, 'shared_cache_up')) === 1);
            const before = await count(other.url, 'shared_cache_hits_total');
            await until(async () => {
              for (const app of ['x1', 'x2', 'x3']) for (const proxy of [one, other]) await ask(proxy, app);
              return (await count(other.url, 'shared_cache_hits_total')) > before;
            });
          },
          { flags },
        ),
      { flags },
    );
  },
);

withStore(
  'a real store that is full is read on, and one that wants another password is not used',
  async (t) => {
    const backend = await startTelltale(t);
    const full = await RealStore.start(t, '--maxmemory', '1mb', '--maxmemory-policy', 'noeviction');
    const closed = await RealStore.start(t, '--requirepass', 'right');
    for (const [store, password, shows] of [
      [full, '', 'shared_cache_errors_total{reason="full"}'],
      [closed, '', 'shared_cache_errors_total{reason="auth"}'],
      [closed, ':wrong@', 'shared_cache_errors_total{reason="auth"}'],
      [closed, ':right@', 'shared_cache_sets_total'],
    ] as const) {
      const flags = { ...usual, 'shared-cache-url': store.url.replace('//', `//${password}`) };
      await withProxy(
        pipeline(backend.url),
        async (proxy) => {
          let number = 0;
          await until(async () => {
            for (let more = 0; more < 20; more += 1) t.true(await ask(proxy, `x${(number += 1)}`));
            return (await count(proxy.url, shows)) > 0;
          });
          t.is(await count(proxy.url, 'shared_cache_up'), password === ':right@' || store === full ? 1 : 0);
        },
        { flags },
      );
    }
  },
);

withStore('a real store is reached by TLS when its authority is trusted', async (t) => {
  const tlsPort = await freePort();
  const files = [
    '--tls-cert-file',
    `${tls}server.pem`,
    '--tls-key-file',
    `${tls}server.key`,
    '--tls-ca-cert-file',
    `${tls}ca.pem`,
  ];
  await RealStore.start(t, '--tls-port', String(tlsPort), '--tls-auth-clients', 'no', ...files);
  const backend = await startTelltale(t);
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-tls-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'pipeline.yaml');
  await writeFile(file, pipeline(backend.url));
  for (const isTrusted of [true, false]) {
    const port = await freePort();
    const args = [
      `-listen=127.0.0.1:${port}`,
      '-admin-listen=127.0.0.1:0',
      `-shared-cache-url=rediss://localhost:${tlsPort}`,
    ];
    const child = spawn(
      process.execPath,
      [main, 'serve', `-pipeline=${file}`, '-server.register-instrumentation=true', ...args],
      {
        env: { ...process.env, ...(isTrusted ? { NODE_EXTRA_CA_CERTS: `${tls}ca.pem` } : {}) },
        stdio: 'ignore',
      },
    );
    const url = `http://127.0.0.1:${port}`;
    await until(() =>
      fetch(`${url}/config`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    t.true(await ask({ url }, 'x1'));
    await until(
      async () =>
        (await ask({ url }, 'x1')) &&
        (await count(url, isTrusted ? 'shared_cache_up' : 'shared_cache_errors_total{reason="connection"}')) >
          0,
    );
    t.is(await count(url, 'shared_cache_up'), isTrusted ? 1 : 0);
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }
});

if (storeProgram === undefined)
  console.log('no Valkey or Redis in the PATH and no VALKEY_SERVER: tests with a real one are skipped');
