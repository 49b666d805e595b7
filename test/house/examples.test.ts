/** Runs the compiled tests of the examples as their authors would, with the Node.js test runner. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';

const run = promisify(execFile);
const folder = join(packageRoot(), 'examples');
const plugins = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'index.ts')));

test('there are four examples of plugins', (t) => {
  t.deepEqual(plugins, ['mask-secrets', 'only-prod', 'redis-tier0', 'tenant-lanes']);
});

for (const name of plugins)
  test(`the tests of the example ${name} pass`, async (t) => {
    t.timeout(120_000);
    const args = ['--test', '--test-reporter=tap', join(folder, name, 'dist', 'index.test.js')];
    const { stdout } = await run(process.execPath, args, { timeout: 100_000 });
    t.regex(stdout, /^# pass [1-9]/m);
    t.regex(stdout, /^# fail 0$/m);
  });
