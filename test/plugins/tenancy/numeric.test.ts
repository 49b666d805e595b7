import test from 'ava';
import { withDoor, type Door } from '../../core/wire/limits/door.js';

const nowNs = BigInt(Date.now()) * 1_000_000n;
const map = { 'tenant-map': '{"team-a":{"account_id":11}}' };
const listed = '{"status":"success","data":["a"]}';
const empty = '{"status":"success"}';

/** A proxy whose tenant team-a has data in account 11. */
async function withTeam(
  flags: Readonly<Record<string, string>>,
  use: (ask: (orgId: string) => Promise<readonly [status: number, text: string]>) => Promise<void>,
): Promise<void> {
  await withDoor(async ({ push, get }: Door) => {
    await push({ app: 'a' }, [[nowNs - 1000n, 'line']], 11);
    await use(async (orgId) => {
      const { status, text } = await get('/loki/api/v1/label/app/values', {}, orgId);
      return [status, text];
    });
  }, flags);
}

test('a number reads its account beside a map, unless that is switched off', async (t) => {
  await withTeam(map, async (ask) => {
    t.deepEqual(await ask('team-a'), [200, listed]);
    t.deepEqual(await ask('11'), [200, listed]);
  });
  await withTeam({ ...map, 'tenant.allow-numeric': 'false' }, async (ask) => {
    t.deepEqual(await ask('team-a'), [200, listed]);
    t.deepEqual(await ask('11'), [200, empty], 'a tenant without data, as any unknown one');
    t.deepEqual(await ask('7|11'), [200, '{"status":"success"}']);
  });
});

test('a number that is no tenant is refused where unknown tenants are', async (t) => {
  const flags = { ...map, 'tenant.allow-numeric': 'false', 'tenant.unknown': 'reject' };
  await withTeam(flags, async (ask) => {
    t.deepEqual(await ask('team-a'), [200, listed]);
    for (const orgId of ['11', '11|team-a']) {
      const [status, text] = await ask(orgId);
      t.is(status, 403);
      t.regex(text, /unknown tenant \\"11\\"/);
    }
  });
});

test('the default tenant is closed where unknown tenants are refused, unless its own switch opens it', async (t) => {
  const path = '/loki/api/v1/label/app/values';
  for (const flags of [map, { 'tenant-label': 'app' }])
    await withDoor(
      async ({ push, get }) => {
        await push({ app: 'a' }, [[nowNs - 1000n, 'line']], 0);
        for (const orgId of ['0', 'fake', 'default', '*', 'team-a|fake', 'fake|'])
          t.is((await get(path, {}, orgId)).status, 403, orgId);
        t.is((await get(path, {}, '')).status, 401);
      },
      { ...flags, 'tenant.unknown': 'reject' },
    );
  await withDoor(
    async ({ push, get }) => {
      await push({ app: 'a' }, [[nowNs - 1000n, 'line']], 0);
      for (const orgId of ['', 'fake']) t.is((await get(path, {}, orgId)).text, listed);
    },
    { ...map, 'tenant.unknown': 'reject', 'tenant.allow-default': 'true' },
  );
});
