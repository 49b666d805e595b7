import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { makeHost, optionsOf } from '../../../core/testing/index.js';
import type { EmbeddedBackendOptions } from '../../../core/base/options.gen.js';
import plugin from '../../../plugins/embedded-backend/index.js';

const { signal } = new AbortController();

function backendOn(listen: string, more: object = {}): ReturnType<typeof plugin.create> {
  // The generated type describes the result of optionsOf for this schema.
  const options = optionsOf('embedded-backend', { listen, ...more }) as unknown as EmbeddedBackendOptions;
  return plugin.create(options, makeHost());
}

test('it is ready between start and stop', async (t) => {
  const service = backendOn('127.0.0.1:0');
  t.is(await service.ready?.(), 'embedded backend not started');
  await service.start?.(signal);
  t.is(await service.ready?.(), undefined);
  await service.stop?.();
  t.is(await service.ready?.(), 'embedded backend not started');
});

test('an address that is taken is named, with what to do', async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an AddressInfo.
  const listen = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
  await t.throwsAsync(async () => backendOn(listen).start?.(signal), {
    message: `its option "listen": cannot listen on ${listen}: address already in use; stop the process that listens there, or set its option "listen" to another address`,
  });
  taken.close();
});

test('a folder that cannot be is named, and not the address', async (t) => {
  const dataPath = fileURLToPath(import.meta.url);
  await t.throwsAsync(async () => backendOn('127.0.0.1:0', { dataPath }).start?.(signal), {
    message: `its option "dataPath": cannot keep rows in ${dataPath}: a file with that name already exists`,
  });
});
