import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import test from 'ava';
import { copyPackage } from '../../house/package-copy.js';
import { addressIn, isOpen } from './child.js';

const flags: Readonly<Record<string, readonly string[]>> = {
  start: ['-pipeline=pipelines/minimal.yaml', '-backend=http://127.0.0.1:9', '-listen=127.0.0.1:0'],
  backend: ['-listen=127.0.0.1:0'],
  demo: ['-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0'],
};

/** This package with its scripts but without the build step, which would overwrite the files that other tests run from. */
function builtPackage(): string {
  return copyPackage({ linked: ['dist', 'pipelines'], scripts: { transpile: 'true' } });
}

const kills: readonly (readonly [script: string, signal: NodeJS.Signals])[] = [
  ['start', 'SIGTERM'],
  ['demo', 'SIGTERM'],
  ['backend', 'SIGTERM'],
  ['backend', 'SIGINT'],
  ['backend', 'SIGHUP'],
  ['backend', 'SIGKILL'],
];
for (const [script, signal] of kills) {
  test.serial(`nothing listens any more when ${signal} has ended npm run ${script}`, async (t) => {
    const folder = builtPackage();
    t.teardown(() => rm(folder, { recursive: true }));
    const npm = spawn('npm', ['run', '-s', script, '--', ...(flags[script] ?? [])], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exited = once(npm, 'exit');
    const url = await addressIn(npm.stdout);
    t.true(await isOpen(`${url}/health`));
    npm.kill(signal);
    await exited;
    while (await isOpen(`${url}/health`));
    t.pass();
  });
}
