import test from 'ava';
import { request } from 'undici';
import { parse } from 'yaml';
import { makePipeline, withPipeline } from '../../../core/testing/index.js';
import { tenantStages } from '../tenant-stages.js';
import tenantLimits from '../../../plugins/tenant-limits/index.js';

interface Got {
  readonly status: number;
  readonly type: unknown;
  readonly text: string;
}

async function get(
  path: string,
  limits: Readonly<Record<string, unknown>> = {},
  orgId?: string,
  options: Readonly<Record<string, unknown>> = { patternsEnabled: true },
  tenancy: Readonly<Record<string, unknown>> = {},
): Promise<Got> {
  const pipeline = makePipeline({
    stages: tenantStages(tenancy),
    endpoints: [{ plugin: tenantLimits, options }],
    limits,
  });
  return withPipeline(pipeline, async ({ url }) => {
    const headers = orgId === undefined ? {} : { 'x-scope-orgid': orgId };
    const response = await request(url + path, { headers });
    const type = response.headers['content-type'];
    return { status: response.statusCode, type, text: await response.body.text() };
  });
}

const yamlPath = '/config/tenant/v1/limits';
const fieldsOf = (got: Got): object => parse(got.text) as object;

test('limits are YAML in plain text: fields sorted, lists indented by four', async (t) => {
  const got = await get(yamlPath);
  t.is(got.status, 200);
  t.is(got.type, 'text/plain; charset=utf-8');
  t.true(
    got.text.startsWith('discover_log_levels: true\ndiscover_service_name:\n    - service\n    - app\n'),
  );
  const fields = Object.keys(fieldsOf(got));
  t.deepEqual(fields, [...fields].sort());
  t.deepEqual(fields, [
    'discover_log_levels',
    'discover_service_name',
    'log_level_fields',
    'max_entries_limit_per_query',
    'max_line_size_truncate',
    'max_query_bytes_read',
    'max_query_length',
    'max_query_lookback',
    'max_query_range',
    'max_query_series',
    'metric_aggregation_enabled',
    'otlp_config',
    'pattern_persistence_enabled',
    'query_timeout',
    'retention_period',
    'retention_stream',
    'volume_enabled',
    'volume_max_series',
  ]);
  t.like(fieldsOf(got), {
    max_entries_limit_per_query: 5000,
    max_query_series: 500,
    query_timeout: '2m',
    retention_period: '0s',
    otlp_config: {},
    retention_stream: [],
  });
});

test('a tenant’s own limits win over those of all tenants, and those over the built-in ones', async (t) => {
  const limits = {
    tenantDefaultLimits: { max_query_length: '90d', max_query_series: 100 },
    tenantLimits: { 'team-a': { max_query_series: 7 } },
  };
  t.like(fieldsOf(await get(yamlPath, limits, 'team-a')), { max_query_length: '90d', max_query_series: 7 });
  t.like(fieldsOf(await get(yamlPath, limits, 'team-b')), { max_query_length: '90d', max_query_series: 100 });
  t.like(fieldsOf(await get(yamlPath, limits)), { max_query_series: 100, max_entries_limit_per_query: 5000 });
});

test('only the fields of the publish list are shown, on both routes', async (t) => {
  const limits = {
    tenantLimitsAllowPublish: ['max_query_series', 'team_note'],
    tenantLimits: { 'team-a': { team_note: 'yes', retention_period: '30d' } },
  };
  const got = await get(yamlPath, limits, 'team-a');
  t.is(got.text, 'max_query_series: 500\nteam_note: "yes"\n');
  const drilldown = await get('/loki/api/v1/drilldown-limits', limits, 'team-a');
  t.true(
    drilldown.text.startsWith(
      '{"limits":{"max_query_series":500,"team_note":"yes"},"pattern_ingester_enabled":true,"version":"unknown",',
    ),
  );
});

test('drilldown-limits have the fields of the YAML', async (t) => {
  const drilldown = await get('/ref/api/v1/drilldown-limits');
  t.is(drilldown.type, 'application/json; charset=utf-8');
  const body = JSON.parse(drilldown.text) as { readonly limits: object };
  t.deepEqual(body.limits, fieldsOf(await get(yamlPath)));
});

test('Logs Drilldown is told whether there are patterns', async (t) => {
  const path = '/loki/api/v1/drilldown-limits';
  const off = await get(path, {}, undefined, { patternsEnabled: false });
  t.like(JSON.parse(off.text), { pattern_ingester_enabled: false });
  t.like(JSON.parse((await get(path)).text), { pattern_ingester_enabled: true });
});

for (const path of [yamlPath, '/loki/api/v1/drilldown-limits']) {
  test(`${path} is refused to several tenants at once`, async (t) => {
    const got = await get(path, {}, 'team-a|team-b');
    t.is(got.status, 400);
    t.is(got.type, 'application/json');
    t.like(JSON.parse(got.text), {
      status: 'error',
      errorType: 'bad_data',
      error: 'multi-tenant X-Scope-OrgID is not supported on this endpoint',
    });
  });
}

for (const path of [yamlPath, '/loki/api/v1/drilldown-limits']) {
  test(`${path} is refused to whom the chain refuses`, async (t) => {
    const missing = await get(path, {}, undefined, undefined, { requireTenantHeader: true });
    t.is(missing.status, 401);
    const unknown = await get(path, {}, 'nobody', undefined, { unknownTenant: 'reject' });
    t.is(unknown.status, 403);
  });
}

test('drilldown-limits tell what Logs Drilldown may list, and that nothing is known of a backend', async (t) => {
  const got = await get('/loki/api/v1/drilldown-limits');
  t.like(JSON.parse(got.text), {
    maxDetectedFields: 1000,
    maxDetectedValues: 1000,
    maxLabelValues: 1000,
    maxLines: 1000,
    backend_version_semver: '',
    backend_version_source: 'unknown',
    backend_capability_profile: 'vl-unknown',
  });
});
