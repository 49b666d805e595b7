import test from 'ava';
import { makeExchange, makeLogAnswer, makeLogRequest, runStage } from 'ref-proxy/testing';
import plugin from './index.js';

const options = { label: 'env', value: 'production' };

async function askedBelow(query) {
  const exchange = makeExchange({ request: makeLogRequest(query) });
  const { seen } = await runStage(plugin, options, exchange, async () => makeLogAnswer({}, []));
  return seen[0].request.query.text;
}

test('every selector of a query gets the matcher', async (t) => {
  t.is(await askedBelow('{app="a"} |= "x"'), '{app="a", env="production"} |= "x"');
  t.is(
    await askedBelow('sum(rate({app="a"}[5m])) / sum(rate({app="b"}[5m]))'),
    '(sum(rate({app="a", env="production"}[5m])) / sum(rate({app="b", env="production"}[5m])))',
  );
});

test('a client cannot get around it by asking for another environment', async (t) => {
  t.is(await askedBelow('{env="staging"}'), '{env="staging", env="production"}');
});

test('a text inside a string is left alone', async (t) => {
  t.is(await askedBelow('{app="a"} |= "{env=\\"x\\"}"'), '{app="a", env="production"} |= "{env=\\"x\\"}"');
});
