import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Agent, request } from 'undici';
import { startProxy } from '../../../core/program/start-proxy.js';
import { packageRoot } from '../../../core/kernel/options/index.js';
import { CapturedLog, makePipeline, withPipeline } from '../../../core/testing/index.js';
import { serving, text } from './fixtures.js';

const folder = join(packageRoot(), 'test/data/tls');
const file = (name: string): string => join(folder, name);
const read = (name: string): Buffer => readFileSync(file(name));
const endpoint = serving({ alive: () => Promise.resolve(text('alive')) });
const https = { tlsCertFile: file('server.pem'), tlsKeyFile: file('server.key') };
const trusting = { ca: read('ca.pem') };
const known = { ...trusting, cert: read('client.pem'), key: read('client.key') };

async function alive(url: string, connect: object): Promise<string> {
  const dispatcher = new Agent({ connect });
  try {
    return await (await request(`${url}/alive`, { dispatcher })).body.text();
  } finally {
    await dispatcher.destroy();
  }
}

test('certificate and key make the listener speak HTTPS', async (t) => {
  await withPipeline(makePipeline({ endpoints: [endpoint], server: https }), async ({ url }) => {
    t.regex(url, /^https:\/\/127\.0\.0\.1:/);
    t.is(await alive(url, trusting), 'alive');
  });
});

test('with client certificates required only a client that shows a trusted one gets in', async (t) => {
  const server = { ...https, tlsClientCaFile: file('ca.pem'), tlsRequireClientCert: true };
  await withPipeline(makePipeline({ endpoints: [endpoint], server }), async ({ url }) => {
    t.is(await alive(url, known), 'alive');
    await t.throwsAsync(alive(url, trusting));
  });
});

test('an authority alone asks for certificates and lets clients without one in', async (t) => {
  const server = { ...https, tlsClientCaFile: file('ca.pem') };
  await withPipeline(makePipeline({ endpoints: [endpoint], server }), async ({ url }) => {
    t.is(await alive(url, trusting), 'alive');
  });
});

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`a certificate of another authority is refused though none is required, ${maxVersion}`, async (t) => {
    const server = { ...https, tlsClientCaFile: file('ca.pem') };
    const foreign = { ...trusting, cert: read('foreign.pem'), key: read('foreign.key'), maxVersion };
    await withPipeline(makePipeline({ endpoints: [endpoint], server }), async ({ url, log }) => {
      await t.throwsAsync(alive(url, foreign));
      const record = await log.find((line) => line.get('body') === 'client certificate refused');
      t.like(Object.fromEntries(record), {
        'severity.text': 'WARN',
        'client.address': '127.0.0.1',
        'error.message': 'DEPTH_ZERO_SELF_SIGNED_CERT',
      });
      // A session that started with this certificate is not accepted either.
      const agent = new Agent({ connect: foreign, connections: 1 });
      for (let index = 0; index < 3; index += 1)
        await t.throwsAsync(request(`${url}/alive`, { dispatcher: agent }));
      await agent.destroy();
      t.is(await alive(url, known), 'alive');
      t.is(await alive(url, trusting), 'alive');
    });
  });
}

const refused: readonly (readonly [server: Readonly<Record<string, unknown>>, message: RegExp])[] = [
  [
    { tlsRequireClientCert: true },
    /^tls-client-ca-file is required when tls-require-client-cert is enabled$/,
  ],
  [{ tlsCertFile: file('server.pem') }, /^-tls-cert-file is set without -tls-key-file$/],
  [
    { ...https, tlsCertFile: file('no-such.pem') },
    /^-tls-cert-file: cannot read .*no-such\.pem: no such file$/,
  ],
  [{ ...https, tlsCertFile: file('server.key') }, /^-tls-cert-file: cannot use these files: /],
  [{ ...https, tlsKeyFile: file('server.pem') }, /^-tls-key-file: cannot use these files: /],
  [
    { ...https, tlsKeyFile: file('client.key') },
    /^-tls-cert-file and -tls-key-file: cannot use these files: /,
  ],
];
for (const [server, message] of refused) {
  test(`TLS settings that cannot work are refused: ${message.source}`, async (t) => {
    const pipeline = makePipeline({ endpoints: [endpoint], server });
    const error = await t.throwsAsync(startProxy(pipeline, { logTo: new CapturedLog() }));
    t.regex(error.message, message);
  });
}
