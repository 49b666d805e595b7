import test from 'ava';
import { parse } from 'yaml';
import { forMany, heldOpen, type Held } from '../../../setup/held-open.js';
import { withDoor, type Door, type Got, type Line } from './door.js';

const nowNs = BigInt(Date.now()) * 1_000_000n;
const minuteNs = 60_000_000_000n;
const ago = (minutes: number): bigint => nowNs - BigInt(minutes) * minuteNs;
const at = (minutes: number): string => ago(minutes).toString();
const lines: readonly Line[] = [1, 10, 50, 90, 300].map((minutes) => [ago(minutes), `line of ${minutes}`]);
const selector = '{app="a"}';
const day = { start: at(24 * 60), end: at(0) };
const api = '/loki/api/v1';

type Limits = Readonly<Record<string, unknown>>;

/** The limits of the tenants of one proxy, by account. */
const limitsOf = new Map<number, Limits>();
let held: Held<Door>;

/** Adds a tenant with these limits and the lines of tenant `1`; requests as `1` become requests as this tenant. */
function tenantWith(limits: Limits): (use: (door: Door) => Promise<void>) => Promise<void> {
  const account = 11 + limitsOf.size;
  limitsOf.set(account, limits);
  return (use) => {
    const { get, push } = held.thing;
    return use({
      get: (path, params, orgId = '1', more) =>
        get(path, params, orgId.replace(/^1\b/, String(account)), more),
      push,
    });
  };
}

test.before('a proxy with tenants that have limits', async () => {
  const flags = { ...forMany, 'tenant-limits': JSON.stringify(Object.fromEntries(limitsOf)) };
  held = await heldOpen((use) => withDoor(use, flags));
  await pushLines(held.thing, [...limitsOf.keys()]);
});

test.after.always(() => held.close());

/** Stores lines of these accounts and of account `2`. */
async function pushLines({ push }: Door, accounts: readonly number[]): Promise<void> {
  for (const account of [...accounts, 2])
    await push({ app: 'a', of: account === 2 ? 't2' : 't1' }, lines, account);
}

/** A proxy with lines of the tenants `1` and `2`, with these limits for `1` and additional flags. */
async function withLimits(
  limits: Limits,
  use: (door: Door) => Promise<void>,
  flags: Readonly<Record<string, string>>,
): Promise<void> {
  await withDoor(
    async (door) => {
      await pushLines(door, [1]);
      await use(door);
    },
    { 'tenant-limits': JSON.stringify({ 1: limits }), ...flags },
  );
}

function errorOf({ status, text }: Got): readonly [status: number, error: unknown] {
  return [status, status === 200 ? text : (JSON.parse(text) as { error: unknown }).error];
}

/** The stored lines in a response, ordered by age. */
function seen({ text }: Got): readonly number[] {
  const found = [...text.matchAll(/line of (\d+)/g)].map(([, minutes]) => Number(minutes));
  return [...new Set(found)].sort((a, b) => a - b);
}

/** The only value of a vector, or undefined. */
function valueOf({ text }: Got): unknown {
  const { data } = JSON.parse(text) as { data: { result: readonly { value: readonly unknown[] }[] } };
  return data.result[0]?.value[1];
}

const ranged = tenantWith({ max_query_range: '30m' });
test('max_query_range bounds the [range] of metric queries', async (t) => {
  await ranged(async ({ get }) => {
    const refused = [400, '[interval] value exceeds limit: [1h] > [30m]'];
    const ask = (path: string, query: string, orgId = '1') => get(`${api}/${path}`, { query, ...day }, orgId);
    for (const path of ['query', 'query_range']) {
      for (const query of [
        `rate(${selector}[1h])`,
        `sum(rate(${selector}[5m])) / sum(rate(${selector}[1h]))`,
      ]) {
        t.deepEqual(errorOf(await ask(path, query)), refused);
        t.deepEqual(errorOf(await ask(path, query, '1|2')), refused, 'the strictest of several tenants');
        t.is((await ask(path, query, '2')).status, 200);
      }
      t.is((await ask(path, `rate(${selector}[30m])`)).status, 200);
    }
    t.is((await ask('query_range', selector)).status, 200);
  });
});

for (const field of ['max_query_lookback', 'retention_period']) {
  const bounded = tenantWith({ [field]: '1h' });

  test(`${field} hides what is older`, async (t) => {
    await bounded(async ({ get }) => {
      const logs = (orgId: string) => get(`${api}/query_range`, { query: selector, ...day }, orgId);
      t.deepEqual(seen(await logs('1')), [1, 10, 50]);
      t.deepEqual(seen(await logs('1|2')), [1, 10, 50], 'the strictest of several tenants');
      t.deepEqual(seen(await logs('2')), [1, 10, 50, 90, 300]);

      const counted = { query: `sum(count_over_time(${selector}[1d]))` };
      t.is(valueOf(await get(`${api}/query`, counted)), '3');
      t.is(valueOf(await get(`${api}/query`, counted, '1|2')), '6');
      t.is(valueOf(await get(`${api}/query`, counted, '2')), '5');
      const stats = await get(`${api}/index/stats`, { query: selector, ...day });
      t.like(JSON.parse(stats.text), { entries: 3 });
    });
  });

  test(`what lies behind ${field} as a whole is empty, and asks the backend nothing`, async (t) => {
    await bounded(async ({ get }) => {
      const gone = { start: at(600), end: at(61) };
      const ask = async (path: string, query = selector): Promise<unknown> =>
        JSON.parse((await get(`${api}/${path}`, { query, 'match[]': selector, time: at(61), ...gone })).text);
      t.like(await ask('query_range'), { status: 'success', data: { resultType: 'streams', result: [] } });
      const metric = `sum(rate(${selector}[5m]))`;
      t.like(await ask('query_range', metric), { data: { resultType: 'matrix', result: [] } });
      t.like(await ask('query', metric), { data: { resultType: 'vector', result: [] } });
      t.deepEqual(await ask('series'), { status: 'success', data: [] });
      t.deepEqual(await ask('labels'), { status: 'success' });
      t.deepEqual(await ask('label/app/values'), { status: 'success' });
      t.like(await ask('index/stats'), { entries: 0 });
      t.like(await ask('index/volume'), { data: { result: [] } });
      t.deepEqual(await ask('detected_labels'), {});
      t.like(await ask('patterns'), { data: [] });
      // Invalid queries are still refused, and queries that read no logs work at any time.
      t.is((await get(`${api}/query_range`, { query: '{app=', ...gone })).status, 400);
      t.like(await ask('query', 'vector(1)'), { data: { result: [{ metric: {} }] } });
    });
  });
}

const looking = tenantWith({ max_query_lookback: '2h', max_query_length: '3h' });
test('the length of a query is measured within the lookback, as in Loki', async (t) => {
  await looking(async ({ get }) => {
    t.deepEqual(seen(await get(`${api}/query_range`, { query: selector, ...day })), [1, 10, 50, 90]);
  });
});

const reading = tenantWith({ max_query_bytes_read: '100B' });
test('max_query_bytes_read refuses by what the streams hold in the time that is read', async (t) => {
  await reading(async ({ get }) => {
    const ask = (path: string, query: string, range: object = day, orgId = '1') =>
      get(`${api}/${path}`, { query, ...range }, orgId);
    const refused = (read: string): readonly unknown[] => [
      400,
      `the query would read too many bytes (query: ${read}, limit: 100 B); consider adding more specific stream selectors or reduce the time range of the query`,
    ];
    // Five lines of ten bytes with a level of eight bytes each, and the level's name and text once.
    t.deepEqual(errorOf(await ask('query_range', `${selector} |= "line"`)), refused('116 B'));
    t.deepEqual(errorOf(await ask('query_range', `sum(rate(${selector}[1m]))`)), refused('116 B'));
    t.deepEqual(errorOf(await ask('query', `sum(rate(${selector}[1d]))`, {})), refused('116 B'));
    t.deepEqual(
      errorOf(await ask('query', `sum(rate(${selector}[1h])) / sum(rate(${selector}[1h]))`, {})),
      refused('158 B'),
      'every selector counts',
    );
    t.deepEqual(errorOf(await ask('query_range', `${selector} |= "line"`, day, '1|2')), refused('232 B'));
    const hour = { start: at(60), end: at(0) };
    t.is((await ask('query_range', `${selector} |= "line"`, hour)).status, 200);
    t.is((await ask('query_range', `${selector} |= "line"`, day, '2')).status, 200);
    // Without a filter, a log query stops at its limit.
    t.deepEqual(seen(await ask('query_range', `${selector} |= ""`)), [1, 10, 50, 90, 300]);
    t.is((await ask('query', 'vector(1)', {})).status, 200);
  });
});

test('query_timeout bounds the time of a request', async (t) => {
  const late =
    'request timed out, decrease the duration of the request or add more label matchers (prefer exact match over regex match) to reduce the amount of data processed';
  await withLimits(
    { query_timeout: '1ms' },
    async ({ get }) => {
      const query = `sum by (line) (count_over_time(${selector} | regexp "(?P<line>.*)" [5m]))`;
      for (const orgId of ['1', '1|2'])
        t.deepEqual(errorOf(await get(`${api}/query_range`, { query, ...day }, orgId)), [504, late]);
      t.is((await get(`${api}/query_range`, { query, ...day }, '2')).status, 200);
    },
    { 'cache-disabled': 'true', 'compat-cache-enabled': 'false' },
  );
});

test('what is published is what holds', async (t) => {
  const limits = {
    max_query_range: '30m',
    max_query_lookback: '1w',
    query_timeout: '1h',
    max_query_bytes_read: '64MB',
    retention_period: '30d',
    max_query_length: 0,
  };
  await withLimits(
    limits,
    async ({ get }) => {
      const published = {
        max_query_range: '30m',
        max_query_lookback: '1w',
        // Every request ends by that time.
        query_timeout: '1m30s',
        max_query_bytes_read: '64MB',
        retention_period: '30d',
        max_query_length: '12h',
      };
      const shown = parse((await get('/config/tenant/v1/limits')).text) as Record<string, unknown>;
      t.like(shown, published);
      t.like(JSON.parse((await get(`${api}/drilldown-limits`)).text), { limits: shown });
      t.like(parse((await get('/config/tenant/v1/limits', {}, '2')).text), {
        query_timeout: '1m30s',
        max_query_range: '0s',
        max_query_bytes_read: '0B',
      });
    },
    { 'http-write-timeout': '90s', 'tenant-default-limits': '{"max_query_length":"12h"}' },
  );
});

test('a listing without a range is shortened to the longest range of its tenant', async (t) => {
  for (const lookback of ['12h', '0s'])
    await withLimits(
      { max_query_length: '1h30m' },
      async ({ get }) => {
        for (const path of ['labels', 'label/app/values', 'series'])
          for (const orgId of ['1', '1|2']) t.is((await get(`${api}/${path}`, {}, orgId)).status, 200);
        const asked = await get(`${api}/labels`, { since: '12h' });
        t.deepEqual(errorOf(asked), [
          400,
          'the query time range exceeds the limit (query length: 12h0m0s, limit: 1h30m)',
        ]);
      },
      { 'metadata-default-lookback': lookback },
    );
});

const withoutVolumes = tenantWith({ volume_enabled: false });
test('volume_enabled decides whether volumes are answered', async (t) => {
  await withoutVolumes(async ({ get }) => {
    for (const path of ['index/volume', 'index/volume_range']) {
      const ask = (orgId: string) => get(`${api}/${path}`, { query: selector, ...day }, orgId);
      t.deepEqual(errorOf(await ask('1')), [404, 'not found']);
      t.deepEqual(errorOf(await ask('1|2')), [404, 'not found'], 'one of several tenants');
      t.is((await ask('2')).status, 200);
    }
    t.is((await get(`${api}/index/stats`, { query: selector, ...day })).status, 200);
    const shown = parse((await get('/config/tenant/v1/limits')).text) as Record<string, unknown>;
    t.false(shown['volume_enabled']);
  });
});

const withUnread = tenantWith({
  discover_log_levels: false,
  discover_service_name: [],
  log_level_fields: ['x'],
  max_line_size_truncate: true,
  metric_aggregation_enabled: true,
  pattern_persistence_enabled: true,
  retention_stream: [{ period: '1h', selector: '{app="a"}' }],
});

test('what nothing reads is not shown as a limit', async (t) => {
  await withUnread(async ({ get }) => {
    const own = parse((await get('/config/tenant/v1/limits')).text) as object;
    const others = parse((await get('/config/tenant/v1/limits', {}, '2')).text) as object;
    t.deepEqual(own, others);
  });
});
