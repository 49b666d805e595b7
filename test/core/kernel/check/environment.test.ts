import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Surroundings } from '../../../../core/kernel/check/rule.js';
import { thisMachine } from '../../../../core/kernel/check/surroundings.js';
import { checkText, minimalStages, pipelineOf, places } from './fake-built-ins.js';

/** A machine on which every check succeeds, except for these faults. */
function machine(faults: Partial<Surroundings> = {}): Surroundings & { readonly asked: string[] } {
  const asked: string[] = [];
  const well = (what: string): Promise<undefined> => {
    asked.push(what);
    return Promise.resolve(undefined);
  };
  return { asked, canRead: well, canWrite: well, canListen: well, canReach: well, ...faults };
}

const whole = pipelineOf(minimalStages, 'server:\n  listen: 127.0.0.1:3100\n');

test('a machine that has everything gives no findings, and is asked for what the file names', async (t) => {
  const surroundings = machine();
  const text = whole
    .replace(
      'use: tenancy',
      'use: tenancy\n    with: {allowNumeric: false, allowDefault: false, tenantMapFile: /etc/tenants.yaml}',
    )
    .replace('use: backend', 'use: backend\n    with: {url: "http://logs:9428/"}');
  t.deepEqual(await checkText(text, { surroundings }), []);
  t.deepEqual(surroundings.asked, ['/etc/tenants.yaml', 'http://logs:9428/health', '127.0.0.1:3100']);
});

test('a file that cannot be read is found at the option', async (t) => {
  const surroundings = machine({ canRead: () => Promise.resolve('there is no such file') });
  const text = whole.replace(
    'use: tenancy',
    'use: tenancy\n    with: {tenantMapFile: a, allowNumeric: false, allowDefault: false}',
  );
  const findings = await checkText(text, { surroundings });
  t.deepEqual(places(findings), ['R060 6:27']);
  t.is(findings[0]?.message, 'tenantMapFile "a" cannot be read: there is no such file');
});

test('a file that cannot be written is found at the option', async (t) => {
  const surroundings = machine({ canWrite: () => Promise.resolve('permission denied') });
  const text = whole.replace(
    'use: backend',
    'use: peer-cache\n    with: {diskCachePath: a}\n  - use: backend',
  );
  t.deepEqual(places(await checkText(text, { surroundings })), ['R061 8:27']);
});

test('a backend that does not answer is found at its plugin; the flag that names it is named', async (t) => {
  const surroundings = machine({ canReach: () => Promise.resolve('connection refused') });
  const [finding] = await checkText(whole, { surroundings, flags: { backend: 'http://u:secret@logs:1' } });
  t.like(finding, { rule: 'R062', at: { line: 7, column: 10 } });
  t.is(finding?.message, 'flag -backend "http://(hidden)@logs:1" is not healthy: connection refused');
});

test('a backend that the same file starts is not asked', async (t) => {
  const surroundings = machine({ canReach: () => Promise.resolve('connection refused') });
  const text = `${whole.replace('use: backend', 'use: backend\n    with: {url: "http://localhost:9428"}')}services:\n  - use: embedded-backend\n`;
  t.deepEqual(await checkText(text, { surroundings }), []);
});

test('a port in use is found at the option', async (t) => {
  const surroundings = machine({ canListen: () => Promise.resolve('the port is in use') });
  t.deepEqual(places(await checkText(whole, { surroundings })), ['R063 3:11']);
});

test('the machine is not looked at while the text has errors', async (t) => {
  const surroundings = machine();
  await checkText(whole.replace('use: tenancy', 'use: tenanci'), { surroundings });
  t.deepEqual(surroundings.asked, []);
});

test('this machine: files and folders', async (t) => {
  const { canRead, canWrite } = thisMachine;
  const folder = mkdtempSync(join(tmpdir(), 'ref-proxy-env-'));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  t.is(await canRead(file), undefined);
  t.is(await canRead(join(folder, 'none')), 'there is no such file');
  t.is(await canRead(folder), 'it is a directory');
  t.is(await canWrite(file), undefined);
  t.is(await canWrite(join(folder, 'new')), undefined);
  t.is(await canWrite(folder), 'it is a directory');
  t.is(await canWrite(join(folder, 'none', 'new')), 'its directory does not exist');
  chmodSync(file, 0o400);
  // Root can write any file; for other users the test expects an error.
  t.is(await canWrite(file), process.getuid?.() === 0 ? undefined : 'permission denied');
});

test('this machine: backends and ports', async (t) => {
  const { canReach, canListen } = thisMachine;
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/health' ? 200 : 503;
    response.end('x'.repeat(100));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Once a TCP server listens, its address is never a string or null.
  const { port } = server.address() as AddressInfo;
  try {
    t.is(await canReach(`http://127.0.0.1:${port}/health`), undefined);
    t.is(await canReach(`http://127.0.0.1:${port}/other`), 'it answered with status 503');
    t.is(await canListen(`127.0.0.1:${port}`), 'the port is in use');
    t.is(await canListen('127.0.0.1:0'), undefined);
    t.is(await canListen('nonsense'), 'it is not an address');
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  t.is(await canReach(`http://127.0.0.1:${port}/health`), 'connection refused');
});
