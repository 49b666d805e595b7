/**
 * `npm run package`: packs the package from a clean build and uses it in an empty project as a new user would. It fails if something is
 * missing
 * in `files` or in the dependencies.
 */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { freePort } from '../core/program/child.js';
import { Project } from './project.js';
import { walk } from './walk.js';

/**
 * A limit that detects unintended files (source maps, images, a second copy of the code), each of which is far larger than the remaining
 * space.
 */
const maxBytes = 1_450_000;

const project = new Project();
try {
  project.install();
  checkFiles();
  checkImports();
  checkTypes();
  checkPipelines();
  checkCommands();
  await checkDefaults();
  await checkSite();
  for (const [kind, language] of [
    ['stage', 'ts'],
    ['endpoint', 'js'],
    ['service', 'ts'],
  ] as const)
    await checkNewPlugin(kind, language);
  await walk(project);
  console.log(`${statSync(project.tarball).size} bytes packed: works in an empty project`);
} finally {
  project.remove();
}

function checkFiles(): void {
  const files = readdirSync(project.installed, { recursive: true, encoding: 'utf8' });
  for (const file of ['LICENSE', 'CHANGELOG.md', 'README.md']) assert(files.includes(file), file);
  const unwanted = files.filter((file) =>
    /\.map$|(?<!^examples\/[^/]+\/index)\.test\.(?!yaml$)|\.png$|(?:^|\/)test(?:\/|$)/.test(file),
  );
  assert.deepEqual(unwanted, [], 'tests, source maps and pictures are left out');
  const code = files.filter((file) => file.endsWith('.js'));
  const pointing = code.filter((file) =>
    readFileSync(join(project.installed, file), 'utf8').includes('sourceMappingURL='),
  );
  assert.deepEqual(pointing, [], 'no file names a source map');
  assert(statSync(project.tarball).size < maxBytes, `at most ${maxBytes} bytes`);
}

function checkImports(): void {
  writeFileSync(
    join(project.folder, 'import.mjs'),
    `import { formatQuery } from 'ref-proxy/logql';
import { checkDraft, draftText } from 'ref-proxy/check';
import { defineStage } from 'ref-proxy/plugin';
import { withProxy } from 'ref-proxy/testing';
const findings = await checkDraft(await draftText('version: 1\\nstagse: []\\n'));
console.log(formatQuery('{a="b"}|="c"'), typeof defineStage, typeof withProxy, typeof findings[0].fix);
`,
  );
  assert.equal(project.run('node', 'import.mjs'), '{a="b"} |= "c" function function string\n');
}

/** Type-checks the declarations of the package, too: they must not need types that only its developers install. */
function checkTypes(): void {
  writeFileSync(
    join(project.folder, 'types.mts'),
    `import { parseQuery } from 'ref-proxy/logql';
import { checkFiles, type Finding } from 'ref-proxy/check';
import { defineStage } from 'ref-proxy/plugin';
import { withProxy } from 'ref-proxy/testing';
export const findings: Promise<readonly Finding[]> = checkFiles(['pipeline.yaml']);
export const tree = parseQuery('{a="b"}');
export const stage = defineStage({
  name: 'mine', summary: '', needs: [], gives: [], rest: 'once',
  create: () => ({ handle: (exchange, rest) => rest(exchange) }),
});
export const text: Promise<string> = withProxy('version: 1', ({ url }) => Promise.resolve(url));
// @ts-expect-error: a query is a text
parseQuery(1);
`,
  );
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  project.run('node', 'node_modules/typescript/bin/tsc', ...flags, 'types.mts');
}

function checkPipelines(): void {
  project.run('npx', '--no', 'ref-proxy', 'check', 'node_modules/ref-proxy/pipelines');
}

/** Every command that exits by itself. */
function checkCommands(): void {
  const proxy = (...args: readonly string[]): string =>
    project.run('npx', '--no', '--', 'ref-proxy', ...args);
  assert.match(proxy('--version'), /^ref-proxy \d+\.\d+\.\d+\n$/);
  assert.match(proxy('flags'), /-backend/);
  assert.match(proxy('format', '{a="b"}|="c"'), /^\{a="b"\} \|= "c"\n$/);
  assert.match(proxy('parse', '--json', '{a="b"}'), /"matchers"/);
  assert.match(proxy('explain', '{a="b"}'), /^logsql {2}\{a="b"\}$/m);
  assert.match(proxy('graph'), /1 {2}tenancy/);
  assert.match(proxy('graph', '-format=mermaid'), /^flowchart TD/);
  assert.match(proxy('graph', '-format=svg'), /^<svg /);
  assert.equal(proxy('fmt', '--check', 'node_modules/ref-proxy/pipelines'), '');
  assert.match(proxy('check', '--print', 'node_modules/ref-proxy/pipelines/minimal.yaml'), /^version: 1$/m);
  assert.doesNotMatch(proxy('test', 'node_modules/ref-proxy/examples'), /FAIL/);
}

/** The workflow for a site plugin: create, edit, test, check, pack, install by name, run. */
async function checkNewPlugin(kind: 'stage' | 'endpoint' | 'service', language: 'ts' | 'js'): Promise<void> {
  const name = `my-${kind}-${language}`;
  project.run('npx', '--no', 'ref-proxy', 'new', 'plugin', name, `-kind=${kind}`, `-language=${language}`);
  edit(
    `${name}/index.${language}`,
    "default: 'production'",
    "default: 'live'",
    "default: 'hello'",
    "default: 'good day'",
    "default: '30s'",
    "default: '1m'",
  );
  project.run('npm', '--prefix', name, 'test');
  project.run('npm', '--prefix', name, 'run', 'check');
  project.installOwn(name, name);
  edit(`${name}/pipeline.yaml`, /use: \.\/.*\n {4}with:\n(?: {6}.*\n)+/, `use: ${name}\n`);
  const shown = `-pipeline=${name}/pipeline.yaml`;
  const explained = project.run('npx', '--no', 'ref-proxy', 'explain', shown, '{app="shop"}');
  if (kind === 'stage') assert.match(explained, /^logsql {2}\{app="shop",env="live"\}$/m);
  const flags = [shown, '-backend=http://127.0.0.1:9', '-admin-listen=127.0.0.1:0'];
  await project.serve(flags, async (url) => {
    assert.equal(await get(`${url}/health`), 'ok');
    if (kind === 'endpoint')
      assert.deepEqual(JSON.parse(await get(`${url}/site/${name}/me`, { 'x-scope-orgid': '7' })), {
        greeting: 'good day',
        name: 'me',
        tenant: '7',
      });
  });
}

/** Replaces the first of the given parts that the file contains; the arguments are pairs. */
function edit(file: string, ...pairs: readonly (string | RegExp)[]): void {
  const path = join(project.folder, file);
  const text = readFileSync(path, 'utf8');
  for (let index = 0; index < pairs.length; index += 2) {
    const changed = text.replace(pairs[index] ?? '', String(pairs[index + 1]));
    if (changed === text) continue;
    writeFileSync(path, changed);
    return;
  }
  assert.fail(`${file} has none of ${pairs.join(', ')}`);
}

/** Starts the proxy without a pipeline file, and with a backend that does not exist. */
async function checkDefaults(): Promise<void> {
  const flags = ['-backend=http://127.0.0.1:9', '-admin-listen=127.0.0.1:0'];
  await project.serve(flags, async (url) => {
    assert.equal(await get(`${url}/health`), 'ok');
  });
}

/** Runs everything in one process, with a site plugin that is a copy of an example in the package. */
async function checkSite(): Promise<void> {
  const port = await freePort();
  cpSync(join(project.installed, 'examples', 'only-prod'), join(project.folder, 'plugins', 'only-prod'), {
    recursive: true,
  });
  const text = readFileSync(join(project.installed, 'pipelines', 'demo.yaml'), 'utf8')
    .replaceAll('127.0.0.1:9429', `127.0.0.1:${port}`)
    .replace(
      '  - use: tier0\n',
      '  - use: ./plugins/only-prod/dist/index.js\n    with: { label: service_name, value: checkout }\n  - use: tier0\n',
    );
  const file = join(project.folder, 'pipeline.yaml');
  writeFileSync(file, text);
  project.run('npx', '--no', 'ref-proxy', 'check', 'pipeline.yaml');
  const token = 'token-of-the-admin';
  const flags = ['-pipeline=pipeline.yaml', `-server.admin-auth-token=${token}`];
  await project.serve(flags, async (url) => {
    assert.equal(await get(`${url}/ready`), 'ready');
    const values = await get(`${url}/loki/api/v1/label/service_name/values`);
    assert.deepEqual(JSON.parse(values), { status: 'success', data: ['checkout'] });
    const authorization = `Bearer ${token}`;
    assert.match(await get(`${url}/ui/`, { authorization }), /<script/);
    // After a reload without a restart, the site plugin filters by another service.
    writeFileSync(file, text.replace('value: checkout', 'value: storefront'));
    const { statusCode, body } = await request(`${url}/admin/reload`, {
      method: 'POST',
      headers: { authorization },
    });
    assert.equal(statusCode, 200, await body.text());
    assert.match(await get(`${url}/loki/api/v1/label/service_name/values`), /\["storefront"\]/);
    assert.match(await get(`${url}/admin/pipeline`, { authorization }), /"generation":2/);
  });
  await project.serve(
    ['-pipeline=pipeline.yaml', '-admin-listen=127.0.0.1:0'],
    async (url) => assert.equal(await get(`${url}/ready`), 'ready'),
    'demo',
  );
  await project.serve([], async (url) => assert.equal(await get(`${url}/health`), 'OK'), 'backend');
}

async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { statusCode, body } = await request(url, { headers, reset: true });
  const text = await body.text();
  assert.equal(statusCode, 200, `${url}: ${text}`);
  return text;
}
