import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { request } from 'undici';
import { builtInDefinitions } from '../../../core/kernel/options/index.js';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { addressIn, run } from './child.js';

const durations = builtInDefinitions().flatMap(({ flag, kind }) =>
  flag !== undefined && kind === 'duration' ? [flag] : [],
);

// Timers of Node.js need whole milliseconds, and a timer of more than 24.8 days fires at once.
for (const value of ['1000h', '2500500us'])
  test.serial(`the proxy serves with every duration at ${value}`, async (t) => {
    t.true(durations.length > 50);
    const folder = await mkdtemp(join(tmpdir(), 'timers-'));
    t.teardown(() => rm(folder, { recursive: true }));
    const tenants = join(folder, 'tenants.json');
    await writeFile(tenants, '{}');
    const backend = await startDevBackend();
    t.teardown(() => backend.close());
    const child = run(
      [
        'serve',
        ...['-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0', `-backend=${backend.url}`],
        ...[`-data-dir=${folder}`, `-tenant-map-file=${tenants}`],
        ...['-label-values-indexed-cache', '-labels-cache-warm', '-peer-hot-read-ahead-enabled'],
        ...['-otlp-endpoint=http://127.0.0.1:9/v1/metrics', '-ruler-backend=http://127.0.0.1:9'],
        ...durations.map((flag) => `-${flag}=${value}`),
      ],
      ['ignore', 'pipe', 'pipe'],
    );
    const exited = once(child, 'exit');
    t.teardown(() => child.kill('SIGKILL'));
    if (child.stdout === null || child.stderr === null) throw new Error('the output is piped');
    const warnings = text(child.stderr);
    const url = await addressIn(child.stdout).catch(async () => t.fail(await warnings));
    if (typeof url !== 'string') return;
    child.stdout.resume();

    const now = Math.floor(Date.now() / 1000);
    const range = `start=${now - 1}&end=${now}`;
    for (const path of [
      '/ready',
      '/loki/api/v1/labels',
      `/loki/api/v1/query_range?query={a="b"}&${range}`,
      `/loki/api/v1/query_range?query=rate({a="b"}[1s])&${range}`,
      `/loki/api/v1/detected_fields?query={a="b"}&${range}`,
    ]) {
      const { statusCode, body } = await request(url + path);
      t.is(statusCode, 200, `${path}: ${await body.text()}`);
    }
    child.kill('SIGKILL');
    await exited;
    t.is(await warnings, '');
  });
