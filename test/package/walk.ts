/** Follows docs/plugins.md from an empty folder: creates, installs, tests, checks, serves and reloads each example. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { FakeStore } from '../plugins/peer-cache/fake-store.js';
import type { Project } from './project.js';

interface Example {
  readonly name: string;
  /** The packages it needs in addition to ref-proxy. */
  readonly packages?: readonly string[];
  /** The lines in a client's response, the newest first. */
  readonly sees: readonly string[];
  /** The change of the pipeline file while it is being served; `seesThen` has the lines after it. */
  readonly change: readonly [from: string, to: string];
  readonly seesThen: readonly string[];
}

const stored = [
  { line: 'bought with password=hunter2', env: 'production' },
  { line: 'tried', env: 'staging' },
] as const;
const all = ['tried', 'bought with password=hunter2'];

const examples: readonly Example[] = [
  {
    name: 'only-prod',
    sees: ['bought with password=hunter2'],
    change: ['value: production', 'value: staging'],
    seesThen: ['tried'],
  },
  {
    name: 'mask-secrets',
    sees: ['tried', 'bought with ***'],
    change: ["'password=[^ ]+'", "'password=[^ ]+', 'tr[a-z]+'"],
    seesThen: ['***', 'bought with ***'],
  },
  { name: 'tenant-lanes', sees: all, change: ['maxPerTenant: 10', 'maxPerTenant: 20'], seesThen: all },
  {
    name: 'redis-tier0',
    packages: ['@keyv/redis'],
    sees: all,
    change: ['    with:\n', '    with:\n      prefix: "changed:"\n'],
    seesThen: all,
  },
];

const reloadTimeoutMs = 60_000;
const startedMs = Date.now();

export async function walk(project: Project): Promise<void> {
  const backend = await startDevBackend();
  const rows = stored.map(({ line, env }, index) => ({
    _msg: line,
    _time: new Date(startedMs - 60_000 + index * 1_000).toISOString(),
    app: 'shop',
    env,
  }));
  const body = rows.map((row) => JSON.stringify(row)).join('\n');
  await fetch(`${backend.url}/insert/jsonline?_stream_fields=app,env`, { method: 'POST', body });
  try {
    for (const example of examples) await walkThrough(project, example, backend.url);
  } finally {
    await backend.close();
  }
}

async function walkThrough(project: Project, example: Example, backendUrl: string): Promise<void> {
  const { name, packages = [], sees, change, seesThen } = example;
  const folder = join(project.folder, name);
  project.run('npx', '--no', 'ref-proxy', 'new', 'plugin', name);
  cpSync(join(project.installed, 'examples', name), folder, { recursive: true });
  project.run('npm', '--prefix', name, 'install', '--no-audit', '--no-fund', ...packages);
  assert(!existsSync(join(folder, 'node_modules', 'ref-proxy')), 'ref-proxy comes from the folder above');
  project.run('npm', '--prefix', name, 'test');
  project.run('npm', '--prefix', name, 'run', 'check');

  const undo: (() => unknown)[] = [];
  // The fake store only uses `teardown` of its test.
  const redis = await FakeStore.start({
    teardown: (work: () => unknown) => undo.push(work),
  } as unknown as ExecutionContext);
  try {
    const file = join(folder, 'pipeline.yaml');
    const before = readFileSync(file, 'utf8').replace('redis://localhost:6379', redis.url);
    writeFileSync(file, before);
    const after = before.replace(...change);
    assert.notEqual(after, before, `${name}: the pipeline file has "${change[0]}"`);
    const flags = [`-pipeline=${name}/pipeline.yaml`, `-backend=${backendUrl}`, '-admin-listen=127.0.0.1:0'];
    const watched = ['-pipeline.watch', '-server.register-instrumentation'];
    await project.serve([...flags, ...watched], async (url) => {
      assert.deepEqual(await linesOf(url), sees);
      assert.deepEqual(await linesOf(url), sees, 'also from a cache');
      writeFileSync(file, after);
      const deadline = Date.now() + reloadTimeoutMs;
      while ((await reloadsOf(url)) !== '1') {
        assert(Date.now() < deadline, `${name}: the changed file is served`);
        await pause(100);
      }
      assert.deepEqual(await linesOf(url), seesThen);
      assert.deepEqual(await linesOf(url), seesThen);
    });
    const isKept = (prefix: string): boolean => redis.names.some((each) => each.startsWith(prefix));
    if (name === 'redis-tier0') assert(isKept('ref-proxy:tier0:answer:') && isKept('changed:answer:'));
  } finally {
    for (const work of undo) await work();
  }
}

function nsOf(ms: number): string {
  return `${ms}000000`;
}

interface Streams {
  readonly data: { readonly result: readonly { readonly values: readonly (readonly [string, string])[] }[] };
}

async function linesOf(url: string): Promise<readonly string[]> {
  const params = { query: '{app="shop"}', start: nsOf(startedMs - 3_600_000), end: nsOf(startedMs - 30_000) };
  const answer = await fetch(`${url}/loki/api/v1/query_range?${new URLSearchParams(params).toString()}`);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  // The body of a log query response.
  const { data } = JSON.parse(text) as Streams;
  return data.result
    .flatMap(({ values }) => values)
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([, line]) => line);
}

/** The number of applied reloads. */
async function reloadsOf(url: string): Promise<string | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return /^ref_proxy_reloads_total\{result="swapped"\} (\d+)$/m.exec(text)?.[1];
}
