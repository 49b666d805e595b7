import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { freePort, isOpen, run } from '../../../core/program/child.js';
import { pipeline } from '../stored.js';
import { apps, ask, filled, pathOf, token } from './fleet.js';
import { until } from '../../../setup/until.js';

test.serial('a replica that is stopped, goes on, is killed or comes back costs no answer', async (t) => {
  const backend = await filled(t);
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-fleet-'));
  const file = join(folder, 'pipeline.yaml');
  await writeFile(file, pipeline(backend.url));
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  const replicas = addresses.map((address) => ({ url: `http://${address}` }));
  const start = async (place: number) => {
    const address = addresses[place] ?? '';
    const child = run(
      [
        'serve',
        `-pipeline=${file}`,
        `-listen=${address}`,
        '-admin-listen=127.0.0.1:0',
        `-peer-self=${address}`,
        '-peer-discovery=static',
        `-peer-static=${addresses.join(',')}`,
        `-peer-auth-token=${token}`,
        '-peer-timeout=500ms',
      ],
      'ignore',
    );
    await until(() => isOpen(`http://${address}/alive`));
    return child;
  };
  const children = await Promise.all([start(0), start(1), start(2)]);
  t.teardown(async () => {
    for (const child of children) {
      const ended = once(child, 'exit');
      if (child.exitCode !== null || child.signalCode !== null || !child.kill('SIGKILL')) continue;
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  });
  let number = 0;
  /** Sends different queries, each of them to all replicas that can respond. */
  const load = async (places: readonly number[]): Promise<void> => {
    for (let round = 0; round < 20; round += 1) {
      number += 1;
      const app = apps[number % apps.length] ?? '';
      const answers = await Promise.all(
        places.map((place) => ask(replicas[place] ?? { url: '' }, pathOf(app, number))),
      );
      for (const answer of answers) t.regex(answer, new RegExp(`0 ${app} 4`));
      t.is(new Set(answers).size, 1);
    }
  };
  const third = children[2];
  await load([0, 1, 2]);
  third.kill('SIGSTOP');
  await load([0, 1]);
  third.kill('SIGCONT');
  await load([0, 1, 2]);
  const ended = once(third, 'exit');
  third.kill('SIGKILL');
  await ended;
  await load([0, 1]);
  children[2] = await start(2);
  await load([0, 1, 2]);
});
