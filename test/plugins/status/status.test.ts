import test from 'ava';
import type { EncodedAnswer } from '../../../core/wire/answer/types.js';
import { makeCall, makeHost, type FakeHostSettings } from '../../../core/testing/index.js';
import type { MetricSpecs } from '../../../core/base/meters.js';
import status from '../../../plugins/status/index.js';

async function ask(route: string, settings: FakeHostSettings<MetricSpecs> = {}): Promise<EncodedAnswer> {
  const handler = status.create({ version: '3.7.1' }, makeHost(settings)).routes.get(route);
  const answer = await handler?.(makeCall({ route }));
  if (answer?.kind !== 'encoded') throw new Error(`route ${route} gave no finished answer`);
  return answer;
}

const texts: readonly (readonly [route: string, body: string])[] = [
  ['ready', 'ready'],
  ['alive', 'alive'],
  ['livez', 'alive'],
  ['health', 'ok'],
  ['healthz', 'ok'],
  ['config', '# ref-proxy'],
  ['services', 'ref-proxy => Running\n'],
  ['cache_generation', '""'],
];
for (const [route, body] of texts) {
  test(`${route} answers ${body.trim()}`, async (t) => {
    const answer = await ask(route);
    t.is(answer.status, 200);
    t.is(answer.body.toString(), body);
  });
}

test('ready is 503 with the first reason when a plugin is not ready', async (t) => {
  const answer = await ask('ready', { notReady: ['backend not ready', 'patterns cache is loading'] });
  t.is(answer.status, 503);
  t.is(answer.body.toString(), 'backend not ready');
});

test('build information has Loki’s flat keys and the same under data', async (t) => {
  const { body, contentType } = await ask('buildinfo');
  t.is(contentType, 'application/json; charset=utf-8');
  const info: unknown = JSON.parse(body.toString());
  t.like(info, { version: '3.7.1', branch: 'main', status: 'success', data: { version: '3.7.1' } });
});

test('a push is blocked', async (t) => {
  const error = await t.throwsAsync(ask('push'));
  t.regex(error.message, /^write operations are not supported/);
});

test('metrics are the exposition of the house', async (t) => {
  const specs = { seen_total: { type: 'counter', help: 'Seen.' } } as const;
  const { body, contentType } = await ask('metrics', { metrics: specs });
  t.regex(contentType, /^text\/plain; version=/);
  t.true(body.toString().includes('ref_proxy_seen_total 0'));
});

test('there is no ring, and the level of the log is told and not set', async (t) => {
  t.like(JSON.parse((await ask('ring')).body.toString()), { shards: [] });
  t.deepEqual(JSON.parse((await ask('log_level')).body.toString()), { message: 'Current log level is info' });
});
