import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../../core/kernel/options/index.js';
import { defineStage } from '../../../core/plugin/index.js';
import type { Answer } from '../../../core/wire/answer/types.js';
import {
  makeExchange,
  makeTenant,
  runPipeline,
  runStage,
  startFakeVictoriaLogs,
  UnfitPipeline,
  withRunningPipeline,
} from '../../../core/testing/index.js';

const empty: Answer = { kind: 'names', values: [], warnings: [] };
const rest = (): Promise<Answer> => Promise.resolve(empty);
const minimal = join(packageRoot(), 'pipelines/minimal.yaml');

const silent = defineStage({
  name: 'silent',
  summary: 'Gives no answer.',
  needs: [],
  gives: [],
  rest: 'once',
  // Plugins in plain JavaScript may do this.
  create: () => ({
    handle: async (exchange, next) => (await next(exchange), undefined as unknown as Answer),
  }),
});

const forgetful = defineStage({
  name: 'forgetful',
  summary: 'Promises a tenant.',
  needs: [],
  gives: ['tenant'],
  rest: 'once',
  create: () => ({ handle: (exchange, next) => next(exchange as never) }),
});

const choosy = defineStage<{ readonly region: string }, 'tenant'>({
  name: 'choosy',
  summary: 'Has options.',
  schema: {
    type: 'object',
    properties: { region: { type: 'string' } },
    required: ['region'],
    additionalProperties: false,
  },
  needs: ['tenant'],
  gives: [],
  rest: 'once',
  create: () => ({ handle: (exchange, next) => next(exchange) }),
});

test('runStage refuses a stage that gives no answer', async (t) => {
  await t.throwsAsync(runStage(silent, {}, makeExchange(), rest), { message: /"silent".*undefined|silent/ });
});

test('runStage refuses a stage that does not give the slot it promises', async (t) => {
  await t.throwsAsync(runStage(forgetful, {}, makeExchange(), rest), { message: /"forgetful".*"tenant"/ });
});

test('runStage refuses misspelt and missing options, and an exchange without the slots that are needed', async (t) => {
  const exchange = makeExchange({ slots: { tenant: makeTenant() } });
  const misspelt = { region: 'eu', regoin: 'eu' };
  await t.throwsAsync(runStage(choosy, misspelt, exchange, rest), {
    message: 'option "regoin" is not known to plugin "choosy", did you mean "region"?',
  });
  const none = {} as { readonly region: string };
  await t.throwsAsync(runStage(choosy, none, exchange, rest), {
    message: 'plugin "choosy" requires option "region"',
  });
  await t.throwsAsync(runStage(choosy, { region: 'eu' }, makeExchange() as never, rest), {
    message: /stage "choosy" needs the slot "tenant"/,
  });
  t.is((await runStage(choosy, { region: 'eu' }, exchange, rest)).answer, empty);
});

test('runPipeline tells what a request got, passed and asked', async (t) => {
  const answer = await runPipeline(
    minimal,
    { path: '/loki/api/v1/query_range', params: { query: '{app="a"}' } },
    { lines: [{ labels: { app: 'a' }, line: 'one' }] },
  );
  t.is(answer.status, 200);
  t.deepEqual(answer.stages, ['tenancy', 'translate', 'backend', 'response-shape']);
  t.true(
    answer.calls.some(
      ({ path, args }) => path === '/select/logsql/query' && args.get('query') === '{app="a"}',
    ),
  );
  t.true(answer.log.some((record) => record.get('body') === 'request'));
  t.regex(answer.body, /"one"/);
});

test('a pipeline keeps its state over several requests of a test, and time passes when told', async (t) => {
  const file = join(packageRoot(), 'pipelines/reference-compatible.yaml');
  await withRunningPipeline(
    file,
    { lines: [{ labels: { app: 'a' }, line: 'one' }] },
    async ({ ask, advance }) => {
      const request = { path: '/loki/api/v1/label/app/values' };
      t.true((await ask(request)).calls.length > 0);
      t.deepEqual((await ask(request)).calls, []);
      advance(3_600_000);
      t.true((await ask(request)).calls.length > 0);
    },
  );
});

test('runPipeline refuses a file that cannot be started', async (t) => {
  const error = await t.throwsAsync(
    runPipeline(minimal, { path: '/ready' }, { flags: { 'backend-timeout': 'soon' } }),
    { instanceOf: UnfitPipeline },
  );
  t.true(error.findings.length > 0);
  await t.throwsAsync(runPipeline(minimal, { path: '/ready' }, { flags: { 'bakend-timeout': '1s' } }), {
    message: 'unknown flag -bakend-timeout, did you mean -backend-timeout?',
  });
});

test('the fake VictoriaLogs remembers calls and refuses those without an answer', async (t) => {
  const backend = await startFakeVictoriaLogs({
    answer: ({ path }) => (path === '/select/logsql/query' ? { body: '{"_msg":"a"}\n' } : undefined),
  });
  try {
    const form = new URLSearchParams({ query: '*' });
    const known = await fetch(`${backend.url}/select/logsql/query?limit=1`, { method: 'POST', body: form });
    t.is(await known.text(), '{"_msg":"a"}\n');
    t.is((await fetch(`${backend.url}/select/logsql/hits`)).status, 500);
    t.is((await fetch(`${backend.url}/health`)).status, 200);
    t.deepEqual(
      backend.calls.map(({ path }) => path),
      ['/select/logsql/query', '/select/logsql/hits'],
    );
    t.deepEqual(
      [...(backend.calls[0]?.args ?? [])],
      [
        ['limit', '1'],
        ['query', '*'],
      ],
    );
    t.deepEqual(
      backend.unanswered.map(({ path }) => path),
      ['/select/logsql/hits'],
    );
  } finally {
    await backend.close();
  }
});
