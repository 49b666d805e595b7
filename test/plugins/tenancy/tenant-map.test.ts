import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  type MapSettings,
  MapSource,
  parseTenantMap,
  readTenantMap,
} from '../../../plugins/tenancy/resolve.js';

test('a map is read from YAML and from JSON, with numbers or texts', (t) => {
  const expected = [
    ['team-a', { accountId: 1, projectId: 2 }],
    ['9', { accountId: 3, projectId: 0 }],
  ];
  t.deepEqual(
    [...parseTenantMap('team-a: {account_id: 1, project_id: "2"}\n9: {account_id: 3}\n', 'file')],
    expected,
  );
  t.deepEqual(
    [...parseTenantMap('{"team-a":{"account_id":"1","project_id":2},"9":{"account_id":"3"}}', 'file')],
    expected,
  );
  t.deepEqual([...parseTenantMap('# nobody yet\n', 'file')], []);
});

const broken: readonly [text: string, message: RegExp][] = [
  ['a: {account_id: -1}', /^file: tenant "a": account_id: must be a whole number from 0 to 4294967295$/],
  ['a: {account_id: 4294967296}', /account_id: must be a whole number/],
  ['a: {account_id: 1.5}', /account_id: must be a whole number/],
  ['a: {project_id: 1}', /account_id: must be a whole number/],
  ['a: {account_id: 1, project_id: x}', /project_id: must be a whole number/],
  ['a: 1', /^file: tenant "a": must be a mapping$/],
  ['[1]', /^file: must be a mapping$/],
  ['a: {account_id: 1', /^file: /],
  ['a: {account_id: 1}\na: {account_id: 2}', /^file: /],
];
for (const [text, message] of broken) {
  test(`the map ${JSON.stringify(text)} is refused with its place`, (t) => {
    t.throws(() => parseTenantMap(text, 'file'), { message });
  });
}

test('a tenant called __proto__ is one like any other', (t) => {
  t.deepEqual(parseTenantMap('{"__proto__":{"account_id":1}}', 'file').get('__proto__'), {
    accountId: 1,
    projectId: 0,
  });
});

async function inFolder(t: ExecutionContext, use: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tenant-map-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await use(path.join(folder, 'tenants.yaml'));
}
const sourceOf = (settings: Partial<MapSettings>): MapSource =>
  new MapSource({ inline: {}, file: undefined, fromEnvironment: () => undefined, ...settings });
const accountOf = (source: MapSource, id: string): number | undefined => source.current.get(id)?.accountId;

test('entries of the file win over inline ones, entry by entry', (t) =>
  inFolder(t, async (file) => {
    await writeFile(file, 'a: {account_id: 2}');
    const source = sourceOf({ file, inline: { a: { account_id: 1 }, b: { account_id: 1 } } });
    t.true(await source.poll());
    t.is(accountOf(source, 'a'), 2);
    t.is(accountOf(source, 'b'), 1);
  }));

test('a poll reads the file again when its modification time changes, and only then', (t) =>
  inFolder(t, async (file) => {
    await writeFile(file, 'a: {account_id: 1}');
    await utimes(file, 1000, 1000);
    const source = sourceOf({ file });
    t.true(await source.poll());
    t.false(await source.poll());
    await writeFile(file, 'a: {account_id: 2}');
    await utimes(file, 2000, 2000);
    t.true(await source.poll());
    t.is(accountOf(source, 'a'), 2);
    await utimes(file, 3000, 3000);
    t.false(await source.poll());
  }));

test('a reload reads the file also when it looks unchanged', (t) =>
  inFolder(t, async (file) => {
    await writeFile(file, 'a: {account_id: 1}');
    await utimes(file, 1000, 1000);
    const source = sourceOf({ file });
    await source.poll();
    await writeFile(file, 'a: {account_id: 2}');
    await utimes(file, 1000, 1000);
    t.true(await source.reload());
    t.is(accountOf(source, 'a'), 2);
  }));

test('an entry that the file no longer has falls back to the inline one', (t) =>
  inFolder(t, async (file) => {
    await writeFile(file, 'a: {account_id: 2}\nb: {account_id: 2}');
    const source = sourceOf({ file, inline: { a: { account_id: 1 } } });
    await source.reload();
    await writeFile(file, '');
    t.true(await source.reload());
    t.is(accountOf(source, 'a'), 1);
    t.is(accountOf(source, 'b'), undefined);
  }));

test('a broken file keeps the old map and is reported once by the polls', (t) =>
  inFolder(t, async (file) => {
    await writeFile(file, 'a: {account_id: 1}');
    const source = sourceOf({ file });
    await source.poll();
    await writeFile(file, 'a: {account_id: none, and more}');
    await t.throwsAsync(source.poll(), { message: /account_id/ });
    t.false(await source.poll());
    t.is(accountOf(source, 'a'), 1);
    await t.throwsAsync(source.reload(), { message: /account_id/ });
  }));

test('a file that goes away keeps the old map and is reported once by the polls', (t) =>
  inFolder(t, async (file) => {
    await writeFile(file, 'a: {account_id: 1}');
    const source = sourceOf({ file });
    await source.poll();
    await rm(file);
    await t.throwsAsync(source.poll(), { message: /^-tenant-map-file: cannot read .*: no such file$/ });
    t.false(await source.poll());
    t.is(accountOf(source, 'a'), 1);
    await writeFile(file, 'a: {account_id: 2}');
    t.true(await source.poll());
  }));

test('a map from the environment is read again at a reload', async (t) => {
  let variable = '{"a":{"account_id":"1"}}';
  const source = sourceOf({ inline: { a: { account_id: '1' } }, fromEnvironment: () => variable });
  t.false(await source.reload());
  variable = '{"a":{"account_id":"2"}}';
  t.true(await source.reload());
  t.is(accountOf(source, 'a'), 2);
  variable = 'broken: [';
  await t.throwsAsync(source.reload(), { message: /^TENANT_MAP: / });
  t.is(accountOf(source, 'a'), 2);
});

test('a map from a flag needs a restart, whatever the environment says', async (t) => {
  const source = sourceOf({
    inline: { a: { account_id: 1 } },
    fromEnvironment: () => '{"a":{"account_id":2}}',
  });
  t.false(await source.reload());
  t.is(accountOf(source, 'a'), 1);
});

test('an inline map with a bad id names the tenant', (t) => {
  t.throws(() => readTenantMap({ a: { account_id: 'x' } }, 'tenant-map'), {
    message: /^tenant-map: tenant "a": account_id/,
  });
});
