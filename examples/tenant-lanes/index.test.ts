import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type Answer, type Rest } from 'ref-proxy/plugin';
import { makeExchange, makeHost, makeLogAnswer, makeTenant } from 'ref-proxy/testing';
import plugin from './index.js';

const exchangeOf = (tenantId: string) => makeExchange<'tenant'>({ slots: { tenant: makeTenant(tenantId) } });

const makeStage = () => plugin.create({ maxPerTenant: 1 }, makeHost({ metrics: plugin.metrics }));

/** A rest of the chain that answers when released. */
function heldRest(): { rest: Rest; release: () => void } {
  const waiting: (() => void)[] = [];
  const rest = (): Promise<Answer> =>
    new Promise((resolve) => waiting.push(() => resolve(makeLogAnswer({}, []))));
  return { rest, release: () => waiting.splice(0).forEach((answer) => answer()) };
}

test('a tenant over its bound is refused while another one passes', async () => {
  const stage = makeStage();
  const { rest, release } = heldRest();

  const first = stage.handle(exchangeOf('a'), rest);
  await assert.rejects(
    stage.handle(exchangeOf('a'), rest),
    (error) => error instanceof ApiError && error.status === 429,
  );
  const other = stage.handle(exchangeOf('b'), rest);
  release();
  await Promise.all([first, other]);
});

test('a place is free again once its request has ended', async () => {
  const stage = makeStage();
  const answer = async (): Promise<Answer> => makeLogAnswer({}, []);
  await stage.handle(exchangeOf('a'), answer);
  await stage.handle(exchangeOf('a'), answer);
});
