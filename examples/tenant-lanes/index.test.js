import test from 'ava';
import { makeExchange, makeHost, makeLogAnswer, makeTenant } from 'ref-proxy/testing';
import plugin from './index.js';

function exchangeOf(tenantId) {
  return makeExchange({ slots: { tenant: makeTenant(tenantId) } });
}

/** A rest of the chain that answers when it is told to. */
function heldRest() {
  const waiting = [];
  const rest = () => new Promise((resolve) => waiting.push(() => resolve(makeLogAnswer({}, []))));
  return { rest, release: () => waiting.splice(0).forEach((answer) => answer()) };
}

test('a tenant over its bound is refused while another one passes', async (t) => {
  const stage = plugin.create({ maxPerTenant: 1 }, makeHost({ metrics: plugin.metrics }));
  const { rest, release } = heldRest();

  const first = stage.handle(exchangeOf('a'), rest);
  const refused = await t.throwsAsync(stage.handle(exchangeOf('a'), rest));
  const other = stage.handle(exchangeOf('b'), rest);
  release();
  await Promise.all([first, other]);

  t.is(refused.status, 429);
});

test('a place is free again once its request has ended', async (t) => {
  const stage = plugin.create({ maxPerTenant: 1 }, makeHost({ metrics: plugin.metrics }));
  const answer = async () => makeLogAnswer({}, []);
  await stage.handle(exchangeOf('a'), answer);
  await t.notThrowsAsync(stage.handle(exchangeOf('a'), answer));
});
