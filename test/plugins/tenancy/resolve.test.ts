import test from 'ava';
import type { Tenant } from '../../../core/base/caller.js';
import { operations } from '../../../core/operations/index.js';
import type { Operation } from '../../../core/wire/api/request.js';
import { readTenantMap, resolveHeader, type TenantPolicy } from '../../../plugins/tenancy/resolve.js';

const map = readTenantMap(
  {
    'team-a': { account_id: '11', project_id: '3' },
    7: { account_id: 70 },
    fake: { account_id: 5 },
    '*': { account_id: 6 },
  },
  'tenant-map',
);
const noMap = readTenantMap({}, 'tenant-map');
const common = {
  allowGlobal: false,
  allowNumeric: true,
  requireTenantHeader: false,
  authEnabled: false,
  forwardTenantHeader: true,
};
const open: TenantPolicy = { ...common, allowDefault: true, unknownTenant: 'reject' };
const byLabel: TenantPolicy = { ...open, tenantLabel: 'team' };
/** The default tenant is not configured. */
const unset: TenantPolicy = { ...common, unknownTenant: 'reject' };

const found: readonly [
  name: string,
  header: string | undefined,
  policy: TenantPolicy,
  tenants: typeof map,
  expected: Partial<Tenant>,
][] = [
  [
    'no header is the default tenant',
    undefined,
    open,
    map,
    { id: '', accountId: 0, projectId: 0, forwardHeader: false },
  ],
  ['a blank header is no header', '  ', open, map, { id: '', accountId: 0 }],
  ['0 is the default tenant', '0', open, noMap, { id: '0', accountId: 0, projectId: 0 }],
  ['fake is the default tenant', 'fake', open, noMap, { id: 'fake', accountId: 0, projectId: 0 }],
  ['default is the default tenant', 'default', open, noMap, { id: 'default', accountId: 0, projectId: 0 }],
  [
    'a mapped id goes to its account and project',
    'team-a',
    open,
    map,
    { id: 'team-a', accountId: 11, projectId: 3, forwardHeader: false },
  ],
  ['spaces around an id do not count', ' team-a ', open, map, { id: 'team-a', accountId: 11 }],
  ['an explicit entry comes before the number', '7', open, map, { accountId: 70, projectId: 0 }],
  ['an explicit entry comes before the alias', 'fake', open, map, { accountId: 5 }],
  ['an explicit entry comes before *', '*', byLabel, map, { accountId: 6 }],
  ['a number is an account', '42', open, map, { id: '42', accountId: 42, projectId: 0, forwardHeader: true }],
  [
    'the header is not forwarded when that is switched off',
    '42',
    { ...open, forwardTenantHeader: false },
    map,
    { forwardHeader: false },
  ],
  [
    'zero has other spellings as a number',
    '00',
    open,
    noMap,
    { id: '00', accountId: 0, projectId: 0, forwardHeader: true },
  ],
  ['an alias is forwarded', 'fake', open, noMap, { id: 'fake', forwardHeader: true }],
  [
    'an alias is not forwarded when that is switched off',
    'fake',
    { ...open, forwardTenantHeader: false },
    noMap,
    { id: 'fake', forwardHeader: false },
  ],
  ['a value of the stream field is not forwarded', 'b', byLabel, noMap, { id: 'b', forwardHeader: false }],
  ['the largest account number is one', '4294967295', open, map, { accountId: 4_294_967_295 }],
  ['* is the default tenant', '*', open, noMap, { id: '*', accountId: 0, streamField: undefined }],
  [
    'with a label an unmapped id is a value of the stream field',
    'anything',
    byLabel,
    map,
    { id: 'anything', accountId: 0, streamField: 'team' },
  ],
  ['with a label a number is a value too', '42', byLabel, map, { accountId: 0, streamField: 'team' }],
  [
    'with a label a mapped id still goes to its account',
    'team-a',
    byLabel,
    map,
    { accountId: 11, streamField: undefined },
  ],
  [
    'with a label an alias is still the default tenant',
    'default',
    byLabel,
    map,
    { accountId: 0, streamField: undefined },
  ],
  [
    'with a label * is allowed when the operator says so',
    '*',
    { ...byLabel, allowGlobal: true },
    noMap,
    { id: '*', streamField: undefined },
  ],
  [
    'with a label * is allowed by its own switch, whatever the default tenant is',
    '*',
    { ...byLabel, allowDefault: false, allowGlobal: true },
    noMap,
    { id: '*', streamField: undefined },
  ],
  [
    'an explicit entry is allowed where the default tenant is not',
    'fake',
    { ...open, allowDefault: false },
    map,
    { accountId: 5 },
  ],
  [
    'the default tenant is open unless unknown ones are refused',
    '0',
    { ...common, unknownTenant: 'empty' },
    noMap,
    { accountId: 0 },
  ],
];
for (const [name, header, policy, tenants, expected] of found) {
  test(name, (t) => {
    const resolved = resolveHeader(header, 'query_range', tenants, policy, 64);
    t.is(resolved.kind, 'one');
    if (resolved.kind === 'one') t.like(resolved.tenant, expected);
  });
}

const withoutAliases = new Map([...map].filter(([id]) => id !== '*' && id !== 'fake'));
const manyIds = Array.from({ length: 65 }, (_, index) => String(index + 1)).join('|');
type Refused = readonly [
  name: string,
  header: string | undefined,
  policy: TenantPolicy,
  status: number,
  text: string,
  operation?: Operation,
];
const refused: readonly Refused[] = [
  [
    'no header where one is required',
    undefined,
    { ...open, requireTenantHeader: true },
    401,
    'missing X-Scope-OrgID header',
  ],
  [
    'no header where auth is enabled',
    undefined,
    { ...open, authEnabled: true },
    401,
    'missing X-Scope-OrgID header',
  ],
  [
    'a blank header where one is required',
    ' ',
    { ...open, requireTenantHeader: true },
    401,
    'missing X-Scope-OrgID header',
  ],
  ['an unknown id', 'nobody', open, 403, 'unknown tenant "nobody"'],
  ['an unknown id with a quote in it', 'a"b', open, 403, 'unknown tenant "a\\"b"'],
  [
    'a number where numbers are no accounts',
    '42',
    { ...open, allowNumeric: false },
    403,
    'unknown tenant "42"',
  ],
  ['a number beyond 32 bits', '4294967296', open, 403, 'unknown tenant "4294967296"'],
  ['a negative number', '-1', open, 403, 'unknown tenant "-1"'],
  ['* under a label', '*', byLabel, 403, 'global tenant bypass ("*") is disabled'],
  [
    'a line feed under a label',
    'a\nb',
    byLabel,
    400,
    'invalid character in X-Scope-OrgID for tenant-label mode',
  ],
  [
    'a carriage return under a label',
    'a\rb',
    byLabel,
    400,
    'invalid character in X-Scope-OrgID for tenant-label mode',
  ],
  ['a NUL under a label', 'a\0b', byLabel, 400, 'invalid character in X-Scope-OrgID for tenant-label mode'],
  [
    '* among several ids',
    '1|*',
    open,
    400,
    'wildcard "*" is not supported inside multi-tenant X-Scope-OrgID values',
  ],
  [
    '* among several ids, mapped or not',
    'team-a|*',
    open,
    400,
    'wildcard "*" is not supported inside multi-tenant X-Scope-OrgID values',
  ],
  ['a bar alone', '|', open, 400, 'multi-tenant X-Scope-OrgID must include at least two tenant IDs'],
  ['more ids than the fan-out allows', manyIds, open, 400, 'multi-tenant fanout exceeds limit of 64 tenants'],
  ['an unknown id among several', '1|nobody', open, 403, 'unknown tenant "nobody"'],
  [
    'several ids where only one is served',
    '1|2',
    open,
    400,
    'multi-tenant X-Scope-OrgID values are only supported on query endpoints',
    'format_query',
  ],
  ['several ids on a tail', '1|2', open, 400, 'multiple org IDs present', 'tail'],
  [
    'an id that Loki would not take, and names nothing',
    'a/b',
    { ...open, unknownTenant: 'empty' },
    400,
    "tenant ID 'a/b' contains unsupported character '/'",
  ],
  ['a dot for an id', '.', { ...open, unknownTenant: 'empty' }, 400, "tenant ID is '.' or '..'"],
  [
    'an id that Loki would not take among several, whatever reads the tenant',
    '1|a/b',
    { ...open, unknownTenant: 'empty' },
    400,
    "tenant ID 'a/b' contains unsupported character '/'",
  ],
  ['two dots for an id', '..', { ...open, unknownTenant: 'empty' }, 400, "tenant ID is '.' or '..'"],
  [
    'an id that is too long for Loki, and names nothing',
    'a'.repeat(151),
    { ...open, unknownTenant: 'empty' },
    400,
    'tenant ID is too long: max 150 characters',
  ],
  ['an id and a bar on a tail', '1|', open, 400, 'multiple org IDs present', 'tail'],
  ...['0', 'fake', 'default', '00'].map((id): Refused => [
    `${id} where unknown ids are`,
    id,
    unset,
    403,
    `unknown tenant "${id}"`,
  ]),
  [
    'the default tenant under a label',
    'fake',
    { ...byLabel, allowDefault: false },
    403,
    'unknown tenant "fake"',
  ],
  ['the default tenant among several ids', '1|default', unset, 403, 'unknown tenant "default"'],
  ['* where the default tenant is closed', '*', unset, 403, 'global tenant bypass ("*") is disabled'],
  ['no header where the default tenant is closed', undefined, unset, 401, 'missing X-Scope-OrgID header'],
  ...[undefined, '0', 'fake', 'default', '*'].map((id): Refused => [
    `a deletion under a label by ${id ?? 'nobody'}`,
    id,
    { ...byLabel, allowGlobal: true },
    403,
    'delete rejected: with label-based tenancy the default tenant holds the logs of every tenant',
    'delete',
  ]),
  ['* and a bar', '*|', open, 400, 'wildcard "*" is not supported inside multi-tenant X-Scope-OrgID values'],
];
for (const [name, header, policy, status, text, operation = 'query_range'] of refused) {
  test(`${name} is refused with ${status}`, (t) => {
    const error = t.throws(() => resolveHeader(header, operation, withoutAliases, policy, 64), {
      message: text,
    });
    t.like(error, { status });
  });
}

test('several tenants may be asked for by operations that merge answers', (t) => {
  const refusing = (Object.keys(operations) as Operation[]).filter((op) => {
    try {
      return resolveHeader('1|2', op, map, open, 64).kind !== 'many';
    } catch {
      return true;
    }
  });
  t.deepEqual(refusing, ['index_shards', 'format_query', 'tail', 'delete', 'deletions', 'tenant']);
});

test('several ids are taken once each and sorted, and all of them set the limits', (t) => {
  const resolved = resolveHeader('team-a| 7 |42|7', 'labels', map, open, 64);
  t.is(resolved.kind, 'many');
  if (resolved.kind !== 'many') return;
  t.deepEqual(
    resolved.tenants.map(({ id, accountId }) => [id, accountId]),
    [
      ['42', 42],
      ['7', 70],
      ['team-a', 11],
    ],
  );
  t.deepEqual(resolved.tenants[0].limitIds, ['42', '7', 'team-a']);
});

test('as many ids are served as the fan-out allows', (t) => {
  t.is(resolveHeader('1|2|3', 'labels', map, open, 3).kind, 'many');
  t.throws(() => resolveHeader('1|2|3', 'labels', map, open, 2), {
    message: 'multi-tenant fanout exceeds limit of 2 tenants',
  });
});

test('an id beside an empty one is one of several, and the same id twice is one', (t) => {
  for (const header of ['team-a|', '|team-a', ' | team-a|team-a', 'team-a||team-a'])
    t.like(resolveHeader(header, 'labels', map, open, 64), { kind: 'many', tenants: [{ id: 'team-a' }] });
  t.like(resolveHeader('team-a|team-a', 'labels', map, open, 64), { kind: 'one', tenant: { id: 'team-a' } });
});

test('an id of the map may be longer than Loki takes', (t) => {
  const id = 'a'.repeat(151);
  const policy = { ...open, unknownTenant: 'empty' } as const;
  const tenants = new Map([[id, { accountId: 7, projectId: 0 }]]);
  t.like(resolveHeader(id, 'labels', tenants, policy, 64), { kind: 'one', tenant: { accountId: 7 } });
});

test('an id that no tenant can have is as none where Loki does not look at the tenant', (t) => {
  const policy = { ...open, unknownTenant: 'empty' } as const;
  for (const id of ['t1/x', '..', 'a b', 'a'.repeat(160)]) {
    t.like(resolveHeader(id, 'format_query', map, policy, 64), {
      kind: 'one',
      tenant: { id: '', accountId: 0 },
    });
    t.throws(() => resolveHeader(id, 'query_range', map, policy, 64), { message: /^tenant ID / });
    t.throws(() => resolveHeader(id, 'format_query', map, open, 64), { message: /^unknown tenant / });
  }
});

test('an unknown id that a tenant could have is a tenant without data also where Loki does not look at it', (t) => {
  const policy = { ...open, unknownTenant: 'empty' } as const;
  t.like(resolveHeader('nobody', 'format_query', map, policy, 64), {
    kind: 'one',
    tenant: { id: 'nobody', hasNoData: true },
  });
});

test('ids that every object has as members are unknown tenants', (t) => {
  for (const id of ['__proto__', 'constructor', 'toString']) {
    t.throws(() => resolveHeader(id, 'labels', map, open, 64), { message: `unknown tenant "${id}"` });
  }
});

test('deletions by tenants of the map and of the label are taken, and by the default tenant without a label', (t) => {
  t.like(resolveHeader('team-a', 'delete', map, byLabel, 64), { tenant: { accountId: 11 } });
  t.like(resolveHeader('b', 'delete', map, byLabel, 64), { tenant: { streamField: 'team' } });
  t.like(resolveHeader(undefined, 'delete', map, open, 64), { tenant: { accountId: 0 } });
});

test('where the default tenant is closed, its ids are tenants without data unless unknown ones are refused', (t) => {
  const policy = { ...open, allowDefault: false, unknownTenant: 'empty' } as const;
  for (const id of ['0', '000', 'fake', 'default'])
    t.like(resolveHeader(id, 'labels', noMap, policy, 64), { kind: 'one', tenant: { id, hasNoData: true } });
});

test('an unknown id is a tenant without data where nothing is refused', (t) => {
  for (const id of ['nobody', '-1', '4294967296', '__proto__', 'a'.repeat(150)]) {
    const resolved = resolveHeader(id, 'labels', map, { ...open, unknownTenant: 'empty' }, 64);
    t.like(resolved, { kind: 'one', tenant: { id, accountId: -1, hasNoData: true, forwardHeader: false } });
  }
  const several = resolveHeader('1|nobody', 'labels', map, { ...open, unknownTenant: 'empty' }, 64);
  t.deepEqual(several.kind === 'many' ? several.tenants.map(({ hasNoData }) => hasNoData) : [], [
    undefined,
    true,
  ]);
});
