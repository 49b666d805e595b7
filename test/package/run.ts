/**
 * `npm run package`: packs the package from a clean build and uses it in an empty project as a stranger would. What is missing from `files`
 * or from the dependencies fails here.
 */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { freePort } from '../core/program/child.js';
import { Project } from './project.js';

const maxBytes = 1_000_000;

const project = new Project();
try {
  project.install();
  checkFiles();
  checkImports();
  checkTypes();
  checkPipelines();
  await checkDefaults();
  await checkSite();
  console.log(`${statSync(project.tarball).size} bytes packed: works in an empty project`);
} finally {
  project.remove();
}

function checkFiles(): void {
  const files = readdirSync(project.installed, { recursive: true, encoding: 'utf8' });
  for (const file of ['LICENSE', 'CHANGELOG.md', 'README.md']) assert(files.includes(file), file);
  const unwanted = files.filter((file) => /\.map$|\.test\.|\.png$|(?:^|\/)test(?:\/|$)/.test(file));
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
import { defineStage } from 'ref-proxy/plugin';
import { withProxy } from 'ref-proxy/testing';
console.log(formatQuery('{a="b"}|="c"'), typeof defineStage, typeof withProxy);
`,
  );
  assert.equal(project.run('node', 'import.mjs'), '{a="b"} |= "c" function function\n');
}

/** With the declarations of the package checked too: they must not need types that only its developers install. */
function checkTypes(): void {
  writeFileSync(
    join(project.folder, 'types.mts'),
    `import { parseQuery } from 'ref-proxy/logql';
import { defineStage } from 'ref-proxy/plugin';
import { withProxy } from 'ref-proxy/testing';
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

/** The proxy as it starts without a file, before a backend that is not there. */
async function checkDefaults(): Promise<void> {
  const flags = ['-backend=http://127.0.0.1:9', '-admin-listen=127.0.0.1:0'];
  await project.serve(flags, async (url) => {
    assert.equal(await get(`${url}/health`), 'ok');
  });
}

/** Everything in one process, with a plugin of the site: an example of the package, copied. */
async function checkSite(): Promise<void> {
  const port = await freePort();
  cpSync(join(project.installed, 'examples', 'only-prod'), join(project.folder, 'plugins', 'only-prod'), {
    recursive: true,
  });
  const text = readFileSync(join(project.installed, 'pipelines', 'demo.yaml'), 'utf8')
    .replaceAll('127.0.0.1:9429', `127.0.0.1:${port}`)
    .replace(
      '  - use: tier0\n',
      '  - use: ./plugins/only-prod/index.js\n    with: { label: service_name, value: checkout }\n  - use: tier0\n',
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
    assert.match(await get(`${url}/ui/`, { authorization: `Bearer ${token}` }), /<script/);
  });
}

async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { statusCode, body } = await request(url, { headers, reset: true });
  const text = await body.text();
  assert.equal(statusCode, 200, `${url}: ${text}`);
  return text;
}
