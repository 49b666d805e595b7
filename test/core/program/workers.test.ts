/** Several processes that serve as one: the view of clients, operators and scrapers. */
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { request } from 'undici';
import type { DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { hasDisk, withDisk } from '../cache/disk-engines.js';
import { packageRoot } from '../../../core/kernel/options/index.js';
import {
  askBoth,
  backendWithLines,
  get,
  metrics,
  seriesIn,
  startWorkers,
  stop,
  type UnderTest,
} from './workers-under.js';

const query = encodeURIComponent('{service_name="shop"}');
const end = Math.floor(Date.now() / 1000);
const lines = `/loki/api/v1/query_range?query=${query}&limit=100&start=${end - 3600}&end=${end}`;

// One proxy for all tests, because starting three processes takes longer than the tests themselves.
let folder: string;
let backend: DevBackend;
let under: UnderTest;

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workers-'));
  await copyFile(join(packageRoot(), 'pipelines/reference-compatible.yaml'), join(folder, 'pipeline.yaml'));
  await writeFile(join(folder, 'tenants.yaml'), 'team: {account_id: 7, project_id: 0}\n');
  backend = await backendWithLines();
  under = await startWorkers(
    backend.url,
    `-pipeline=${join(folder, 'pipeline.yaml')}`,
    '-server.enable-query-analytics=true',
    `-tenant-map-file=${join(folder, 'tenants.yaml')}`,
    ...(hasDisk ? [`-disk-cache-path=${join(folder, 'cache.db')}`] : []),
  );
});
test.after.always(async () => {
  under.child.kill('SIGKILL');
  await backend.close();
  await rm(folder, { recursive: true });
});

test.serial('two workers answer as one process does', async (t) => {
  const { texts } = await askBoth(under, lines);
  t.is(new Set(texts.map((text) => /"values":(.*?\]\])/.exec(text)?.[1])).size, 1);
  t.regex(texts[0] ?? '', /^200 .*"three".*"two".*"one"/);
  t.is((await get(`${under.url}/ready`)).text, 'ready');
});

test.serial('/metrics, /debug/queries and the page add up all workers, whichever answers', async (t) => {
  const where = 'system="ref",direction="downstream",endpoint="query_range",route="/loki/api/v1/query_range"';
  const { texts } = await askBoth(under, lines);
  const all = await under.logged((record) => record['http.route'] === '/loki/api/v1/query_range');
  t.true(all.length > texts.length);
  for (let turn = 0; turn < 6; turn += 1) {
    const text = await metrics(under);
    t.is(seriesIn(text, `requests_total{${where},status="200"}`), all.length);
    t.is(seriesIn(text, `request_duration_seconds_count{${where}}`), all.length);
    t.is(seriesIn(text, `request_duration_seconds_bucket{le="+Inf",${where}}`), all.length);
    t.is(seriesIn(text, 'workers'), 2);
    // All workers read the same map, so this is not a sum.
    t.is(seriesIn(text, 'tenant_map_entries'), 1);
    const queries = await read<{ readonly top_by_frequency: readonly { readonly count: number }[] }>(
      '/debug/queries',
    );
    t.like(queries, { total_queries: all.length, unique_queries: 1 });
    t.is(queries.top_by_frequency[0]?.count, all.length);
    const { stages } = await read<{
      readonly stages: readonly { readonly id: string; readonly figures: { readonly calls: number } }[];
    }>('/ui/api/pipeline');
    t.is(stages.find(({ id }) => id === 'guard')?.figures.calls, stages[0]?.figures.calls);
    t.true((stages[0]?.figures.calls ?? 0) > 1);
  }
});

async function read<Body>(path: string): Promise<Body> {
  return JSON.parse((await get(under.adminUrl + path)).text) as Body;
}

test.serial(
  'a reload that one worker is asked for reaches all, and what cannot be served is refused by all',
  async (t) => {
    const file = join(folder, 'pipeline.yaml');
    const text = await readFile(file, 'utf8');
    const reload = async (): Promise<{
      readonly result: string;
      readonly workers: readonly { readonly result: string }[];
    }> => {
      const { body } = await request(`${under.adminUrl}/admin/reload`, { method: 'POST' });
      return (await body.json()) as Awaited<ReturnType<typeof reload>>;
    };
    await writeFile(file, text.replace('- use: drilldown', '- use: drildown'));
    t.like(await reload(), { result: 'refused', workers: [{ result: 'refused' }, { result: 'refused' }] });
    await writeFile(file, text.replace(/ +- use: drilldown.*\n/, ''));
    t.like(await reload(), { result: 'swapped', workers: [{ result: 'swapped' }, { result: 'swapped' }] });
    const { agrees, hash, stages } = await read<{
      readonly agrees: boolean;
      readonly hash: string;
      readonly stages: readonly { readonly id: string }[];
    }>('/admin/pipeline');
    t.true(agrees);
    t.false(stages.some(({ id }) => id === 'drilldown'));
    t.is(seriesIn(await metrics(under), `pipeline_info{hash="${hash}"}`), 2);
  },
);

test.serial('a flush of one worker empties the caches of all', async (t) => {
  const kept = async (): Promise<number> => seriesIn(await metrics(under), 'compat_cache_entries');
  await askBoth(under, `/loki/api/v1/labels?start=${end - 7200}&end=${end - 3600}`);
  t.true((await kept()) >= 2);
  const { statusCode, body } = await request(`${under.adminUrl}/admin/cache/flush`, { method: 'POST' });
  t.is(statusCode, 200, await body.text());
  t.is(await kept(), 0);
});

test.serial('what one worker has made, another one takes from it', async (t) => {
  const taken =
    'requests_total{system="ref",direction="downstream",endpoint="worker_get",route="/_cache/get",status="200"}';
  const before = seriesIn(await metrics(under), taken);
  // On a busy machine, a worker may be too slow to answer one of the requests.
  for (let at = 1; at < 40 && seriesIn(await metrics(under), taken) === before; at += 1) {
    const path = `/loki/api/v1/labels?start=${end - 86_400 - at}&end=${end - 43_200 - at}`;
    const { texts } = await askBoth(under, path);
    t.is(new Set(texts).size, 1);
  }
  t.true(seriesIn(await metrics(under), taken) > before);
  t.is((await get(`${under.url}/_cache/get?key=a`)).status, 404, 'strangers cannot ask');
});

test.serial('SIGHUP reloads all workers', async (t) => {
  const ofTeam = { 'X-Scope-OrgID': 'team' };
  t.true((await askBoth(under, lines, ofTeam)).texts.every((text) => !text.includes('three')));
  await writeFile(join(folder, 'tenants.yaml'), 'team: {account_id: 0, project_id: 0}\n');
  under.child.kill('SIGHUP');
  const reloads = await under.logged(({ body }) => body === 'tenant map reloaded', 2);
  t.deepEqual(reloads.map((record) => record['worker.id']).sort(), [1, 2]);
  t.true((await askBoth(under, lines, ofTeam)).texts.every((text) => text.includes('three')));
});

withDisk(test.serial)('SIGTERM ends all of them, and each has kept a file of its own', async (t) => {
  t.deepEqual(await stop(under), [0, null]);
  const files = await readdir(folder);
  t.true(files.includes('cache.db') && files.includes('cache.db.worker-2'), files.join(' '));
  t.is(under.records.filter(({ body }) => body === 'stopped').length, 3);
});
