/** Runs the examples of README.md and of the demo's welcome text unchanged, and checks that their responses are not empty. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { packageRoot } from '../../../core/kernel/options/index.js';
import { demoWelcome } from '../../../core/tools/demo.js';
import { withProxyFile } from '../../../core/testing/index.js';
import { freePort } from './child.js';
import { findProgram } from './programs.js';

const curl = findProgram('CURL', 'curl');
if (curl === undefined) console.log('no curl in the PATH and no CURL: the examples of README.md are not run');
const withCurl = curl === undefined ? test.serial.skip : test.serial;

const readmeHost = 'localhost:3100';
const sh = promisify(execFile);

/** Code blocks and inline code that call curl. */
function examplesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/(?:^ *|`)(curl [^`\n]+)/gm), ([, command = '']) => command);
}

/** True if a response is empty: a list or map without entries, or no text. */
function isEmpty(text: string): boolean {
  if (!/^[[{]/.test(text)) return text.trim() === '';
  // The format of Loki's API.
  const { status, data } = JSON.parse(text) as { readonly status?: unknown; readonly data?: unknown };
  if (status !== 'success') return true;
  const found: unknown = data instanceof Object && 'result' in data ? data.result : data;
  return !Array.isArray(found) || found.length === 0;
}

withCurl('every example of README.md, and of the demo, has an answer that shows something', async (t) => {
  const readme = examplesIn(readFileSync(join(packageRoot(), 'README.md'), 'utf8'));
  const welcome = examplesIn(
    demoWelcome({ proxyUrl: `http://${readmeHost}`, adminUrl: '', backendUrl: '' }, ''),
  );
  // The current numbers of examples, so that an unrecognized form of an example is noticed.
  t.true(readme.length >= 3 && welcome.length === 3, `${readme.length}, ${welcome.length}`);
  const listen = `127.0.0.1:${await freePort()}`;
  const env = { DEMO_BACKEND_LISTEN: listen, DEMO_BACKEND_URL: `http://${listen}` };
  const use = async ({ url }: { readonly url: string }): Promise<void> => {
    for (const example of [...readme, ...welcome]) {
      t.true(example.includes(readmeHost), example);
      const command = example.replaceAll(readmeHost, new URL(url).host).replace(/^curl/, '"$CURL" -sS');
      const { stdout } = await sh('sh', ['-c', command], { env: { ...process.env, CURL: curl } });
      t.false(isEmpty(stdout), `${example}\n${stdout.slice(0, 300)}`);
    }
  };
  await withProxyFile(join(packageRoot(), 'pipelines/demo.yaml'), use, {
    env,
    flags: { 'admin-listen': '127.0.0.1:0' },
  });
});
