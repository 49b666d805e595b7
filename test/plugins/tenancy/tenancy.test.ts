import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { TenancyOptions } from '../../../core/base/options.gen.js';
import type { Exchange } from '../../../core/kernel/plugin/exchange.js';
import type { Answer } from '../../../core/plugin/index.js';
import { makeExchange, makeLogAnswer, optionsOf, runStage } from '../../../core/testing/index.js';
import tenancy from '../../../plugins/tenancy/index.js';
import { requestOf } from '../../core/cache/samples.js';
import { hostFor } from '../host-for.js';

const optionsFrom = (values: Readonly<Record<string, unknown>> = {}): TenancyOptions =>
  // optionsOf applies the schema, which the type is generated from.
  optionsOf('tenancy', values) as unknown as TenancyOptions;
const answer = makeLogAnswer({ app: 'a' }, ['line']);
const answering = (): Promise<Answer> => Promise.resolve(answer);

test('the tenant is given to the stages behind, and the exchange stays final', async (t) => {
  const options = optionsFrom({ tenantMap: { 'team-a': { account_id: 11, project_id: 3 } } });
  const exchange = makeExchange({ caller: { orgId: 'team-a' } });
  const run = await runStage(tenancy, options, exchange, answering);
  t.is(run.answer, answer);
  t.like(run.seen[0]?.slots.tenant, { id: 'team-a', accountId: 11, projectId: 3 });
  t.true(run.seen[0]?.isFinal);
  t.is(exchange.trace.tenantId, 'team-a');
});

test('several ids that are one are that tenant, which is the value of the tenant label', async (t) => {
  const options = optionsFrom({ tenantMap: { 'team-a': { account_id: 11, project_id: 3 } } });
  for (const orgId of ['team-a|team-a', 'team-a|', ' | team-a|team-a']) {
    const named = await runStage(
      tenancy,
      options,
      makeExchange({ caller: { orgId }, request: requestOf('label_values', { name: '__tenant_id__' }) }),
    );
    t.like(named.answer, { kind: 'names', values: ['team-a'] });
    t.is(named.seen.length, 0);
    const other = makeExchange({ caller: { orgId }, request: requestOf('label_values', { name: 'app' }) });
    const run = await runStage(tenancy, options, other, answering);
    t.like(run.seen[0]?.slots.tenant, { id: 'team-a', accountId: 11 });
  }
});

test('an id beside an empty one has the tenant label, alone it has not', async (t) => {
  const options = optionsFrom({ tenantMap: { 'team-a': { account_id: 11, project_id: 3 } } });
  const labelsFor = async (orgId: string): Promise<unknown> => {
    const run = await runStage(tenancy, options, makeExchange({ caller: { orgId } }), answering);
    return run.answer.kind === 'streams' && run.answer.streams[0]?.labels.json;
  };
  t.is(await labelsFor('team-a|'), '{"__tenant_id__":"team-a","app":"a"}');
  t.is(await labelsFor('team-a|team-a'), '{"app":"a"}');
});

test('a refused header never reaches the stages behind', async (t) => {
  const exchange = makeExchange({ caller: { orgId: 'nobody' } });
  const run = runStage(tenancy, optionsFrom({ unknownTenant: 'reject' }), exchange);
  await t.throwsAsync(run, { message: 'unknown tenant "nobody"' });
});

test('a start with an unreadable map file fails', async (t) => {
  const missing = path.join(tmpdir(), 'no-such-folder', 'tenants.yaml');
  const stage = tenancy.create(optionsFrom({ tenantMapFile: missing }), hostFor(tenancy));
  await t.throwsAsync(async () => stage.start?.(new AbortController().signal), {
    message: /^-tenant-map-file: cannot read .*: no such file$/,
  });
});

test('an inline map with a bad id fails when the stage is made', (t) => {
  const options = { ...optionsFrom(), tenantMap: { a: { account_id: 'x' } } };
  t.throws(() => tenancy.create(options, hostFor(tenancy)), { message: /account_id/ });
});

test('a reload takes the changed map, empties the caches of answers, and keeps the old map when it fails', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tenancy-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'tenants.yaml');
  await writeFile(file, 'a: {account_id: 1}');
  const host = hostFor(tenancy);
  const stage = tenancy.create(optionsFrom({ tenantMapFile: file, tenantMapReloadInterval: '0s' }), host);
  const accounts: (number | undefined)[] = [];
  const ask = (): Promise<Answer> =>
    stage.handle(makeExchange({ caller: { orgId: 'a' } }), (exchange) => {
      accounts.push(exchange.slots.tenant.accountId);
      return answering();
    });
  await stage.start?.(new AbortController().signal);
  await ask();
  await stage.reload?.();
  t.deepEqual(host.purges, []);
  await writeFile(file, 'a: {account_id: 2}');
  await stage.reload?.();
  await ask();
  t.deepEqual(host.purges, ['answers']);
  await writeFile(file, 'a: [');
  await t.throwsAsync(async () => stage.reload?.());
  await ask();
  await stage.stop?.();
  t.deepEqual(accounts, [1, 2, 2]);
  t.is(await host.metric('tenant_map_reloads_total', { outcome: 'changed' }), 1);
  t.is(await host.metric('tenant_map_reloads_total', { outcome: 'error' }), 1);
});

test('several tenants are asked with exchanges of their own that are not final', async (t) => {
  const exchange: Exchange = makeExchange({ caller: { orgId: '2|1' } });
  const run = await runStage(tenancy, optionsFrom(), exchange, answering);
  t.deepEqual(
    run.seen.map(({ slots, isFinal }) => [slots.tenant.id, isFinal]),
    [
      ['1', false],
      ['2', false],
    ],
  );
  t.is(exchange.trace.tenantId, '1|2');
});
