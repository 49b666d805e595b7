import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeExchange, makeLogAnswer, makeLogRequest, runStage } from 'ref-proxy/testing';
import plugin from './index.js';

const options = { label: 'env', value: 'production' };

async function askedBelow(query: string): Promise<string> {
  const exchange = makeExchange({ request: makeLogRequest(query) });
  const { seen } = await runStage(plugin, options, exchange, async () => makeLogAnswer({}, []));
  const request = seen[0]?.request;
  assert(request?.op === 'query_range');
  return request.query.text;
}

test('every selector of a query gets the matcher', async () => {
  assert.equal(await askedBelow('{app="a"} |= "x"'), '{app="a", env="production"} |= "x"');
  assert.equal(
    await askedBelow('sum(rate({app="a"}[5m])) / sum(rate({app="b"}[5m]))'),
    '(sum(rate({app="a", env="production"}[5m])) / sum(rate({app="b", env="production"}[5m])))',
  );
});

test('a client cannot get around it by asking for another environment', async () => {
  assert.equal(await askedBelow('{env="staging"}'), '{env="staging", env="production"}');
});

test('a text inside a string is left alone', async () => {
  assert.equal(
    await askedBelow('{app="a"} |= "{env=\\"x\\"}"'),
    '{app="a", env="production"} |= "{env=\\"x\\"}"',
  );
});
