import { once } from 'node:events';
import { spawn } from 'node:child_process';
import test from 'ava';
import { warnOfNode } from '../../../core/program/node-version.js';
import { packageJson } from '../../../core/kernel/options/index.js';
import { addressIn, main, minimalPipeline } from './child.js';

const range = '>=20.20.2 <21 || >=22.22.2 <23 || >=24.14.1 <25 || >=25.8.2';

test.serial('package.json names the versions of Node.js that have the security fixes', (t) => {
  t.is(packageJson().engines.node, range);
  const isWarnedOf = (version: string): boolean => {
    const said: string[] = [];
    const log = { ...console, warn: (body: string) => void said.push(body) };
    warnOfNode(log, version);
    return said.length === 1;
  };
  for (const version of ['18.20.8', '20.20.0', '20.20.1', '21.9.0', '22.22.1', '22.9.9', '24.14.0', '25.8.1'])
    t.true(isWarnedOf(`v${version}`), version);
  for (const version of ['20.20.2', '20.21.0', '22.22.2', '24.14.1', '24.15.0', '25.8.2', '26.0.0'])
    t.false(isWarnedOf(`v${version}`), version);
});

for (const workers of ['1', '2'])
  test.serial(`serve warns once of a Node.js without security fixes: workers=${workers}`, async (t) => {
    const older = 'data:text/javascript,Object.defineProperty(process,"version",{value:"v20.20.1"})';
    const flags = [`-pipeline=${minimalPipeline}`, '-backend=http://127.0.0.1:9', '-listen=127.0.0.1:0'];
    const child = spawn(
      process.execPath,
      ['--import', older, main, 'serve', ...flags, `-workers=${workers}`],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const closed = once(child, 'close');
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await addressIn(child.stdout);
    child.stdout.resume();
    child.kill('SIGTERM');
    await closed;
    const warnings = said.split('\n').filter((line) => line.includes('this version of Node.js'));
    t.is(warnings.length, 1);
    t.like(JSON.parse(warnings[0] ?? ''), {
      'severity.text': 'WARN',
      'process.runtime.version': 'v20.20.1',
      'process.runtime.supported': range,
    });
  });
