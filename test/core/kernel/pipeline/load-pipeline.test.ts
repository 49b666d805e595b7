import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { loadPipeline } from '../../../../core/kernel/pipeline/index.js';
import { draftPipeline } from '../../../../core/kernel/pipeline/draft.js';
import { fakeBuiltIns, pipelineOf } from '../check/fake-built-ins.js';

const folder = join(packageRoot(), 'test', 'data', 'pipelines');
const site = join(folder, 'site.yaml');

const load = (
  file: string,
  flags: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): ReturnType<typeof loadPipeline> =>
  loadPipeline(file, { flags: new Map(Object.entries(flags)), env }, fakeBuiltIns);

test('a sound file becomes a pipeline: plugins in order, the disabled left out, ids and options resolved', async (t) => {
  const { pipeline, findings } = await load(site);
  t.deepEqual(findings, []);
  t.deepEqual(
    pipeline?.stages.map(({ id, use }) => [id, use]),
    [
      ['tenancy', 'tenancy'],
      ['only-mine', './plugins/add-matcher.js'],
      ['translate', 'translate'],
      ['backend', 'backend'],
      ['response-shape', 'response-shape'],
    ],
  );
  t.deepEqual(pipeline?.stages[1]?.options, { label: 'team', wait: 2000 });
  t.is(pipeline?.stages[1]?.plugin.name, 'add-matcher');
  t.deepEqual(
    pipeline?.endpoints.map(({ id }) => id),
    ['reference-api'],
  );
  t.deepEqual(
    pipeline?.services.map(({ id }) => id),
    ['in-a-folder'],
  );
});

test('sections have defaults, and durations are milliseconds', async (t) => {
  const { pipeline } = await load(site);
  t.is(pipeline?.server.httpReadTimeout, 5_000);
  t.is(pipeline?.server.listen, ':3100');
  t.is(pipeline?.names.labelStyle, 'underscores');
  t.is(pipeline?.file, site);
});

test('a flag wins over the environment, the environment over the file', async (t) => {
  const env = { LOGS_BACKEND_URL: 'http://from-env:1' };
  const urlOf = (result: Awaited<ReturnType<typeof load>>): unknown =>
    result.pipeline?.stages.find(({ id }) => id === 'backend')?.options;
  t.like(urlOf(await load(site)), { url: 'http://127.0.0.1:19428', timeout: 7_000 });
  t.like(urlOf(await load(site, {}, env)), { url: 'http://from-env:1' });
  t.like(urlOf(await load(site, { backend: 'http://from-flag:1' }, env)), { url: 'http://from-flag:1' });
});

test('a reference takes the variable over its default', async (t) => {
  const { pipeline } = await load(site, {}, { SITE_LABEL: 'region' });
  t.like(pipeline?.stages[1]?.options, { label: 'region' });
});

test('a file with an error gives no pipeline and all findings', async (t) => {
  const { pipeline, findings } = await load(join(folder, 'five.yaml'));
  t.is(pipeline, undefined);
  t.is(findings.length, 5);
});

test('a file that is not there is a finding', async (t) => {
  const { pipeline, findings } = await load(join(folder, 'nowhere.yaml'));
  t.is(pipeline, undefined);
  t.like(findings[0], { rule: 'R001', message: 'the file cannot be read: there is no such file' });
});

test('a directory is a finding', async (t) => {
  const { findings } = await load(folder);
  t.like(findings[0], { rule: 'R001', message: 'the file cannot be read: it is a directory' });
});

test('files that are kept begin in the data folder, files that are read do not', async (t) => {
  const draft = await draftOf({
    'data-dir': '/data',
    'disk-cache-path': 'c.db',
    'tenant-map-file': 'm.yaml',
  });
  const optionsOf = (use: string): unknown =>
    draft.entries.find((entry) => entry.use === use)?.options?.resolved.options;
  t.like(optionsOf('peer-cache'), { diskCachePath: '/data/c.db' });
  t.like(optionsOf('tenancy'), { tenantMapFile: 'm.yaml' });
  t.like(optionsOf('response-shape'), { factsPersistPath: '/data/facts.json' });
  const absolute = await draftOf({ 'data-dir': '/data', 'facts-persist-path': '/facts/f.json' });
  t.like(absolute.entries.find(({ use }) => use === 'response-shape')?.options?.resolved.options, {
    factsPersistPath: '/facts/f.json',
  });
});

function draftOf(flags: Readonly<Record<string, string>>): ReturnType<typeof draftPipeline> {
  const text = pipelineOf(['tenancy', 'translate', 'peer-cache', 'backend', 'response-shape']);
  const source = { name: 'site.yaml', path: '/nowhere/site.yaml', text, isFragment: false };
  return draftPipeline(source, { flags: new Map(Object.entries(flags)), env: {} }, fakeBuiltIns);
}
