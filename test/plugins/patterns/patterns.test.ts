import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Answer } from '../../../core/wire/answer/types.js';
import type { ApiRequest } from '../../../core/wire/api/request.js';
import type { PatternsOptions } from '../../../core/base/options.gen.js';
import { apiError } from '../../../core/base/errors/table.js';
import { makeCall, makeTenant, optionsOf } from '../../../core/testing/index.js';
import patterns from '../../../plugins/patterns/index.js';
import { hostFor } from '../host-for.js';

const none: Answer = { kind: 'patterns', patterns: [], warnings: [] };

interface Started {
  /** Calls the endpoint; returns its answer, and the request that it sent down the chain. */
  readonly ask: (
    params: Readonly<Record<string, string>>,
  ) => Promise<{ readonly answer: Answer; readonly asked?: ApiRequest }>;
  readonly reload: () => Promise<void>;
}

async function start(
  change: Partial<PatternsOptions> = {},
  tenantOf: () => Promise<Answer> = () => Promise.resolve({ kind: 'tenant', tenant: makeTenant() }),
): Promise<Started> {
  // The options type is generated from the same schema.
  const options = { ...(optionsOf('patterns') as unknown as PatternsOptions), ...change };
  const endpoint = patterns.create(options, hostFor(patterns));
  await endpoint.start?.(new AbortController().signal);
  return {
    reload: async () => endpoint.reload?.(),
    ask: async (params) => {
      let asked: ApiRequest | undefined;
      const call = makeCall({
        route: 'patterns',
        path: '/loki/api/v1/patterns',
        params: new Map(Object.entries(params).map(([name, value]) => [name, [value]])),
        ask: (request) => {
          if (request.op === 'tenant') return tenantOf();
          asked = request;
          return Promise.resolve(none);
        },
      });
      const answer = await endpoint.routes.get('patterns')?.(call);
      return { answer: answer ?? none, ...(asked === undefined ? {} : { asked }) };
    },
  };
}

test('a request is asked of the chain with the bounds of the options', async (t) => {
  const { ask } = await start({ maxBackendRows: 50, custom: ['job <_>'] });
  const { asked } = await ask({ query: '{app="a"}', step: '60' });
  t.like(asked, { op: 'patterns', stepNs: 60_000_000_000n, limit: 1000 });
  t.deepEqual(asked?.op === 'patterns' && asked.search, {
    maxRows: 50,
    secondPassMaxRows: 8000,
    secondPassMaxWindows: 8,
    custom: ['job <_>'],
  });
});

test('switched off the endpoint answers nothing, whatever it is asked', async (t) => {
  const { ask } = await start({ enabled: false });
  t.deepEqual(await ask({ query: 'bad{' }), { answer: none });
});

test('switched off the endpoint still refuses who may not ask, and answers several tenants', async (t) => {
  const refusing = await start({ enabled: false }, () => Promise.reject(apiError('missingTenant', {})));
  t.like(await t.throwsAsync(refusing.ask({ query: '{app="a"}' })), { status: 401 });
  const several = await start({ enabled: false }, () =>
    Promise.reject(apiError('multiTenantUnsupported', {})),
  );
  t.deepEqual(await several.ask({ query: '{app="a"}' }), { answer: none });
});

test('patterns of a file come behind those of the option, and are read again on reload', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'patterns-'));
  const customFile = join(folder, 'own.txt');
  try {
    await writeFile(customFile, 'b <_>\na <_>\n');
    const { ask, reload } = await start({ custom: ['a <_>'], customFile });
    const customOf = async (): Promise<unknown> => {
      const { asked } = await ask({ query: '{app="a"}' });
      return asked?.op === 'patterns' && asked.search.custom;
    };
    t.deepEqual(await customOf(), ['a <_>', 'b <_>']);
    await writeFile(customFile, '["c <_>"]');
    await reload();
    t.deepEqual(await customOf(), ['a <_>', 'c <_>']);
    await writeFile(customFile, '[1]');
    await t.throwsAsync(reload(), { message: /own\.txt/ });
    t.deepEqual(await customOf(), ['a <_>', 'c <_>']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a file that is not there keeps the plugin from starting', async (t) => {
  await t.throwsAsync(start({ customFile: join(tmpdir(), 'no', 'such', 'file') }), {
    message: /^-patterns-custom-file: cannot read .*: no such file$/,
  });
});
