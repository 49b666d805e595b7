import test from 'ava';
import type { TenantLimits } from '../../../../core/wire/limits/tenant-limits.js';
import { createLimits, type Limits } from '../../../../core/wire/limits/limits.js';
import { limitsOptions } from '../../../../core/testing/index.js';

const hourNs = 3_600_000_000_000n;
const limitsFrom = (values: Readonly<Record<string, unknown>> = {}): Limits =>
  createLimits({ ...limitsOptions(values), requestTimeout: 120_000 });

test('without settings there is no limit of the query length and 500 series', (t) => {
  t.like(limitsFrom().of(['any']), {
    maxQueryLengthNs: 0n,
    maxQuerySeries: 500,
    maxEntriesLimitPerQuery: 5000,
  });
});

const precedence: readonly [name: string, values: Readonly<Record<string, unknown>>, expected: bigint][] = [
  ['the flag', { defaultMaxQueryLength: '1h' }, hourNs],
  [
    'the default limits before the flag',
    { defaultMaxQueryLength: '1h', tenantDefaultLimits: { max_query_length: '2h' } },
    2n * hourNs,
  ],
  [
    'the tenant’s own before the default limits',
    { tenantDefaultLimits: { max_query_length: '2h' }, tenantLimits: { a: { max_query_length: '3h' } } },
    3n * hourNs,
  ],
  [
    'the next one when the tenant’s own is 0',
    { tenantDefaultLimits: { max_query_length: '2h' }, tenantLimits: { a: { max_query_length: 0 } } },
    2n * hourNs,
  ],
  ['nothing when all are 0', { tenantLimits: { a: { max_query_length: '0s' } } }, 0n],
];
for (const [name, values, expected] of precedence) {
  test(`the query length is limited by ${name}`, (t) => {
    t.is(limitsFrom(values).of(['a']).maxQueryLengthNs, expected);
  });
}

test('tenant limits know days, weeks and years', (t) => {
  const lengthOf = (text: string): bigint =>
    limitsFrom({ tenantDefaultLimits: { max_query_length: text } }).of([]).maxQueryLengthNs;
  t.is(lengthOf('90d'), 90n * 24n * hourNs);
  t.is(lengthOf('1w'), 7n * 24n * hourNs);
  t.is(lengthOf('1y'), 365n * 24n * hourNs);
  t.is(lengthOf('30d1h'), 721n * hourNs);
});

test('a request over several tenants is held to the smallest limit that is not zero', (t) => {
  const limits = limitsFrom({
    tenantLimits: {
      a: { max_query_length: '3h', max_query_series: 10, max_entries_limit_per_query: 0 },
      b: { max_query_length: '2h', max_query_series: 20 },
    },
  });
  t.like(limits.of(['a', 'b', 'c']), {
    maxQueryLengthNs: 2n * hourNs,
    maxQuerySeries: 10,
    maxEntriesLimitPerQuery: 5000,
  } satisfies Partial<TenantLimits>);
});

test('sizes are numbers or texts with units of 1024', (t) => {
  const bytesOf = (value: unknown): number =>
    limitsFrom({ tenantDefaultLimits: { label_values_max_response_bytes: value } }).of([])
      .labelValuesMaxResponseBytes;
  t.is(bytesOf(1000), 1000);
  t.is(bytesOf('64MB'), 67_108_864);
});

test('a value that is no limit names the tenant and the field', (t) => {
  const settings = { ...limitsOptions(), tenantLimits: { a: { max_query_length: 'soon' } } };
  t.throws(() => createLimits(settings), {
    message: 'tenant-limits["a"].max_query_length: "soon" is not a duration such as "90d" or "1h30m"',
  });
  const negative = { ...limitsOptions(), tenantDefaultLimits: { max_query_series: -1 } };
  t.throws(() => createLimits(negative), {
    message: 'tenant-default-limits.max_query_series: -1 is not a whole number of 0 or more',
  });
});

test('the published fields are the enforced values under the built-in allowlist, sorted', (t) => {
  const published = limitsFrom({ defaultMaxQueryLength: '721h' }).published('a');
  t.is(published.get('max_query_length'), '30d1h');
  t.is(published.get('query_timeout'), '2m');
  t.is(published.get('retention_period'), '0s');
  t.is(published.get('volume_max_series'), 1000);
  t.false(published.has('label_values_max_response_bytes'));
  t.deepEqual([...published.keys()], [...published.keys()].sort());
});

test('the allowlist decides what is published, overrides as the operator wrote them', (t) => {
  const limits = limitsFrom({
    tenantLimitsAllowPublish: ['max_query_length', 'custom_field'],
    tenantDefaultLimits: { max_query_length: '90d', custom_field: 'everybody' },
    tenantLimits: { a: { custom_field: 'a only' } },
  });
  t.deepEqual(
    [...limits.published('a')],
    [
      ['custom_field', 'a only'],
      ['max_query_length', '90d'],
    ],
  );
  t.deepEqual(
    [...limits.published('b')],
    [
      ['custom_field', 'everybody'],
      ['max_query_length', '90d'],
    ],
  );
});

test('a tenant called like a member of every object has no limits of its own', (t) => {
  t.deepEqual(limitsFrom().of(['__proto__']), limitsFrom().of(['constructor']));
});
