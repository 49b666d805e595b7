import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeExchange, makeHost, makeLogAnswer, runStage } from 'ref-proxy/testing';
import plugin from './index.js';

const options = { patterns: ['Bearer [A-Za-z0-9._-]+'], replacement: '***' };

test('a secret in a line is replaced and counted', async () => {
  const host = makeHost({ metrics: plugin.metrics });
  const below = makeLogAnswer({ app: 'shop' }, ['login with Bearer abc.def', 'nothing to hide']);

  const { answer } = await runStage(plugin, options, makeExchange(), async () => below, host);

  assert(answer.kind === 'streams');
  assert.deepEqual(
    answer.streams[0]?.entries.map((entry) => entry.line),
    ['login with ***', 'nothing to hide'],
  );
  assert.equal(await host.metric('masked_lines_total'), 1);
});

test('the answer below is left as it was, because caches share it', async () => {
  const below = makeLogAnswer({ app: 'shop' }, ['Bearer abc']);
  await runStage(plugin, options, makeExchange(), async () => below);
  assert.equal(below.streams[0]?.entries[0]?.line, 'Bearer abc');
});

test('the rest of the chain may not answer with finished bytes', async () => {
  const { seen } = await runStage(plugin, options, makeExchange(), async () => makeLogAnswer({}, []));
  assert.equal(seen[0]?.isFinal, false);
});
